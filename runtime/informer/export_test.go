package informer

import (
	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/runtime/internal/shell"
)

// Registrations returns the handlers of an informer that generated code returned.
func Registrations(i cache.SharedInformer) (all []cache.ResourceEventHandlerRegistration) {
	s, _ := shell.As[*shared[cache.ObjectName]](i)
	for _, r := range *s.core.handlers.Load() {
		all = append(all, r)
	}
	return all
}

// LastRegistration returns the handler that was added last.
func LastRegistration(i cache.SharedInformer) cache.ResourceEventHandlerRegistration {
	all := Registrations(i)
	return all[len(all)-1]
}

// HasIndex reports whether the store of an informer that generated code returned has an index.
func HasIndex(i cache.SharedInformer, name string) bool {
	s, _ := shell.As[*shared[cache.ObjectName]](i)
	return s.core.store.HasIndex(name)
}
