package cache

import (
	"time"

	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"github.com/kubewright/kubewright/runtime/internal/metrics"
)

// Constructors of client-go's types. They are functions, not variables, so that go doc lists them below their
// types and shows their signatures. The objects that they return are safe for concurrent use.

// NewHeap returns an empty heap, from which Pop takes the least object by lessFn. Pop waits for an object,
// and returns an error when the heap is closed and empty.
func NewHeap(keyFn KeyFunc, lessFn LessFunc) *Heap { return cache.NewHeap(keyFn, lessFn) }

// NewFIFO returns an empty queue of keys, each with its newest object. An object that is deleted before it
// is taken is never seen.
func NewFIFO(keyFunc KeyFunc) *FIFO { return cache.NewFIFO(keyFunc) }

// NewRealFIFO returns an empty queue of all changes in their order.
//
// Deprecated: use NewRealFIFOWithOptions.
func NewRealFIFO(keyFunc KeyFunc, knownObjects KeyListerGetter, transformer TransformFunc) *RealFIFO {
	return cache.NewRealFIFO(keyFunc, knownObjects, transformer)
}

// NewRealFIFOWithOptions returns an empty queue of all changes in their order. It panics if the options
// contradict each other: exactly one of KnownObjects and AtomicEvents is needed, and AtomicEvents for
// UnlockWhileProcessing and EmitDeltaTypeBookmark.
func NewRealFIFOWithOptions(opts RealFIFOOptions) *RealFIFO {
	// client-go knows only its own default provider, not the one that [informer.SetMetricsProvider] set.
	opts.MetricsProvider = metrics.ProviderFor(opts.Identifier, opts.MetricsProvider)
	return cache.NewRealFIFOWithOptions(opts)
}

// NewTTLStore returns a store whose objects expire ttl after they were written.
func NewTTLStore(keyFunc KeyFunc, ttl time.Duration) Store { return cache.NewTTLStore(keyFunc, ttl) }

// NewExpirationStore returns a store whose objects expire by a policy. A read removes what has expired.
func NewExpirationStore(keyFunc KeyFunc, expirationPolicy ExpirationPolicy) Store {
	return cache.NewExpirationStore(keyFunc, expirationPolicy)
}

// NewFakeExpirationStore returns a store that sends the keys of expired objects to deletedKeys.
func NewFakeExpirationStore(
	keyFunc KeyFunc, deletedKeys chan<- string, expirationPolicy ExpirationPolicy, cacheClock clock.Clock,
) Store {
	return cache.NewFakeExpirationStore(keyFunc, deletedKeys, expirationPolicy, cacheClock)
}

// NewIntegerResourceVersionMutationCache is [NewIntegerResourceVersionMutationCacheWithOptions] for a cache
// of 100 objects.
func NewIntegerResourceVersionMutationCache(
	logger klog.Logger, backingCache Store, indexer Indexer, ttl time.Duration, includeAdds bool,
) MutationCache {
	return cache.NewIntegerResourceVersionMutationCache(logger, backingCache, indexer, ttl, includeAdds)
}

// NewIntegerResourceVersionMutationCacheWithOptions returns a cache that remembers its user's writes for a
// while, and returns these objects where backingCache is older. By default it keeps 100 objects for five
// minutes. Unless the handlers of an informer call its OnAddOrUpdate and OnDelete, it may return an object
// that is deleted already.
func NewIntegerResourceVersionMutationCacheWithOptions(
	logger klog.Logger, backingCache Store, options MutationCacheOptions,
) MutationCache {
	return cache.NewIntegerResourceVersionMutationCacheWithOptions(logger, backingCache, options)
}

// NewInformerName reserves a name for informers in metrics. No two informers of a process, client-go's or
// ours, have the same name: NewInformerName returns an error for a name that wasn't released.
func NewInformerName(name string) (*InformerName, error) { return cache.NewInformerName(name) }

// ResetInformerNamesForTesting releases all names.
func ResetInformerNamesForTesting() { cache.ResetInformerNamesForTesting() }
