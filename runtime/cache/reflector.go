package cache

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/util/naming"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"
)

// NewReflector returns a reflector that is named after the line that calls NewReflector.
func NewReflector(
	lw ListerWatcher, expectedType any, store ReflectorStore, resyncPeriod time.Duration,
) *Reflector {
	return NewReflectorWithOptions(lw, expectedType, store, ReflectorOptions{ResyncPeriod: resyncPeriod})
}

// NewNamedReflector is [NewReflector] with a name.
func NewNamedReflector(
	name string, lw ListerWatcher, expectedType any, store ReflectorStore, resyncPeriod time.Duration,
) *Reflector {
	return NewReflectorWithOptions(lw, expectedType, store,
		ReflectorOptions{Name: name, ResyncPeriod: resyncPeriod})
}

// NewNamespaceKeyedIndexerAndReflector returns an indexer by namespace and a reflector that fills it.
func NewNamespaceKeyedIndexerAndReflector(
	lw ListerWatcher, expectedType any, resyncPeriod time.Duration,
) (indexer Indexer, reflector *Reflector) {
	indexer = NewIndexer(MetaNamespaceKeyFunc, Indexers{NamespaceIndex: MetaNamespaceIndexFunc})
	return indexer, NewReflector(lw, expectedType, indexer, resyncPeriod)
}

// NewReflectorWithOptions returns a reflector that keeps store equal to the objects that lw lists and
// watches. It logs and drops events with objects of another type than expectedType's, unless that is nil.
//
// The reflector is client-go's, because [Reflector] is a struct that handlers of watch errors receive. The
// informers and controllers of this package run our reflector.
func NewReflectorWithOptions(
	lw ListerWatcher, expectedType any, store ReflectorStore, options ReflectorOptions,
) *Reflector {
	if options.Name == "" {
		// client-go would take this line for the caller's.
		options.Name = naming.GetNameFromCallsite("/runtime/cache/reflector.go")
	}
	return cache.NewReflectorWithOptions(lw, expectedType, store, options)
}

// DefaultWatchErrorHandler logs err: at level 4 if a version has expired, at level 1 if a stream broke off,
// not at all if a watch was closed in good order, and as an error otherwise.
func DefaultWatchErrorHandler(ctx context.Context, r *Reflector, err error) {
	cache.DefaultWatchErrorHandler(ctx, r, err)
}

// NewRetryWithDeadline returns client-go's helper that allows errors to be retried for a limited time.
func NewRetryWithDeadline(
	maxRetryDuration, minResetPeriod time.Duration, isRetryable func(error) bool, clock clock.Clock,
) RetryWithDeadline {
	return cache.NewRetryWithDeadline(maxRetryDuration, minResetPeriod, isRetryable, clock)
}
