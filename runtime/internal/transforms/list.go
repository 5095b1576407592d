package transforms

import "github.com/kubewright/kubewright/runtime/internal/store"

// List is a list of transformed objects that will replace the content of a store.
type List[K comparable] struct {
	*store.Replacement[K]
	// Names are those of the staged objects.
	Names Names[K]
}

// NewList returns an empty list for a store.
func NewList[K comparable](s *store.Store[K]) *List[K] { return &List[K]{Replacement: s.Begin()} }

// Put stages an object in place of what was staged for it. An object that isn't cached is removed.
func (l *List[K]) Put(o Result[K], version string) {
	if o.Object == nil {
		l.Remove(o.From)
		return
	}
	if old, moved := l.Names.Put(o.From, o.Key, l.Keys); moved {
		l.Delete(old)
	}
	l.Set(o.Key, o.Object, version)
}

// Remove removes the object of a key of the server, if it is staged.
func (l *List[K]) Remove(from K) {
	if key, ok := l.Names.Of(from); ok {
		l.Delete(key)
		l.Names.Forget(from)
	}
}
