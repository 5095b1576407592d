package informer

import (
	"errors"
	"fmt"

	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/runtime/internal/decode"
	"github.com/kubewright/kubewright/runtime/listwatch"
)

// errNoStreams is for sources that take objects as others have decoded them.
var errNoStreams = errors.New("the informer's source doesn't decode objects itself")

// SetDecoding has an informer that a generated constructor made drop fields of
// objects before they are decoded, share more between objects, or take them as
// client-go decodes them. It is an error after the start, and for informers of
// another make.
func SetDecoding(i cache.SharedIndexInformer, opts listwatch.DecodingOptions) error {
	ours, ok := as[interface {
		setDecoding(listwatch.DecodingOptions) error
	}](i)
	switch {
	case isNil(i):
		return fmt.Errorf("set the decoding of %T: %w", i, errNil)
	case !ok:
		return fmt.Errorf("informer of type %T: %w", i, errNoStreams)
	}
	return ours.setDecoding(opts)
}

func (s *Shared[K, T]) setDecoding(opts listwatch.DecodingOptions) error {
	source, ok := s.core.config.Source.(interface {
		SetDecoding(listwatch.DecodingOptions)
	})
	if !ok {
		return errNoStreams
	}
	return s.core.beforeStart(func() { source.SetDecoding(opts) })
}

// keepUnchanged tells a source that wants to know what the store holds already.
// It says whether there is one.
func (i *Informer[K, T]) keepUnchanged() bool {
	source, ok := i.config.Source.(interface {
		KeepUnchanged(func(decode.Identity) (T, bool)) bool
	})
	if _, named := any(*new(K)).(cache.ObjectName); !ok || !named {
		return false
	}
	return source.KeepUnchanged(func(id decode.Identity) (T, bool) {
		key, _ := any(cache.ObjectName{Namespace: id.Namespace, Name: id.Name}).(K)
		obj, version, ok := i.store.Lookup(key)
		return obj, ok && version == id.ResourceVersion && version != ""
	})
}

// keep stages an object of the store again, as it is: it has been transformed,
// and its version is kept beside it.
func (s staging[K, T]) keep(obj T) bool {
	if !s.sink.keeps {
		return false
	}
	key, err := s.sink.key(obj)
	if err != nil {
		return false
	}
	stored, version, ok := s.sink.store.Lookup(key)
	if !ok || any(stored) != any(obj) {
		return false
	}
	s.staged.Set(key, stored, version)
	return true
}
