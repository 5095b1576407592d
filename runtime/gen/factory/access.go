package factory

import "k8s.io/client-go/tools/cache"

// Access is what generated factories return for a kind: its shared informer, also as a typed one of type I,
// and a lister of type L over the informer's cache. It is safe for concurrent use if the functions that it
// was made with are.
type Access[I, L any] struct {
	informer func() cache.SharedIndexInformer
	typed    func(cache.SharedIndexInformer) I
	lister   func() L
}

// NewAccess returns an Access to the informer that get returns. Each method calls get.
func NewAccess[I, L any](
	get func() cache.SharedIndexInformer, typed func(cache.SharedIndexInformer) I,
	newLister func(cache.Indexer) L,
) *Access[I, L] {
	return &Access[I, L]{get, typed, func() L { return newLister(get().GetIndexer()) }}
}

// WithTyped adds TypedInformer to an access that has no typed informer.
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
