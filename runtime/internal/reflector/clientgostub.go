package reflector

import "k8s.io/client-go/tools/cache"

// ClientGoStub returns a reflector of client-go's type that has r's name and type
// description, and is never to be run: client-go's handlers of watch errors are
// given one, to ask it who failed.
func (r *Reflector) ClientGoStub() *cache.Reflector {
	return cache.NewReflectorWithOptions(&cache.ListWatch{}, nil, nil,
		cache.ReflectorOptions{Name: r.name, TypeDescription: r.typ})
}
