package factory

import "k8s.io/client-go/tools/cache"

// Access is what generated factories return for a kind: its shared informer,
// which is of type I when seen as typed, and a lister of type L over the
// informer's cache. It is as safe for concurrent use as the functions that it was
// made of.
type Access[I, L any] struct {
	informer func() cache.SharedIndexInformer
	typed    func(cache.SharedIndexInformer) I
	lister   func() L
}

// NewAccess makes an Access to the informer that get returns, which is asked
// anew each time.
func NewAccess[I, L any](get func() cache.SharedIndexInformer, typed func(cache.SharedIndexInformer) I, newLister func(cache.Indexer) L) *Access[I, L] {
	return &Access[I, L]{get, typed, func() L { return newLister(get().GetIndexer()) }}
}

// WithTyped gives typed access to what has untyped access only.
func WithTyped[I, L any](untyped interface {
	Informer() cache.SharedIndexInformer
	Lister() L
}, typed func(cache.SharedIndexInformer) I) *Access[I, L] {
	return &Access[I, L]{untyped.Informer, typed, untyped.Lister}
}

// Informer returns the informer.
func (a *Access[I, L]) Informer() cache.SharedIndexInformer { return a.informer() }

// TypedInformer returns the informer as a typed one.
func (a *Access[I, L]) TypedInformer() I { return a.typed(a.informer()) }

// Lister returns a lister over the informer's cache.
func (a *Access[I, L]) Lister() L { return a.lister() }
