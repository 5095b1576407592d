package cache

import (
	"context"
	"time"

	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/runtime/internal/reflector"
	"github.com/kubewright/kubewright/runtime/listwatch"
)

// NewReflector returns a reflector that is named after the line that calls it.
func NewReflector(lw ListerWatcher, expectedType any, store ReflectorStore, resyncPeriod time.Duration) *Reflector {
	return NewReflectorWithOptions(lw, expectedType, store, ReflectorOptions{ResyncPeriod: resyncPeriod})
}

// NewNamedReflector is NewReflector with a name.
func NewNamedReflector(name string, lw ListerWatcher, expectedType any, store ReflectorStore, resyncPeriod time.Duration) *Reflector {
	return NewReflectorWithOptions(lw, expectedType, store, ReflectorOptions{Name: name, ResyncPeriod: resyncPeriod})
}

// NewNamespaceKeyedIndexerAndReflector returns an indexer by namespace and a
// reflector that fills it.
func NewNamespaceKeyedIndexerAndReflector(lw ListerWatcher, expectedType any, resyncPeriod time.Duration) (indexer Indexer, reflector *Reflector) {
	indexer = NewIndexer(MetaNamespaceKeyFunc, Indexers{NamespaceIndex: MetaNamespaceIndexFunc})
	return indexer, NewReflector(lw, expectedType, indexer, resyncPeriod)
}

// NewReflectorWithOptions returns a reflector that keeps store equal to what lw
// lists and watches. Events with objects of another type than expectedType's are
// logged and dropped, unless it is nil.
//
// The type is client-go's, because handlers of watch errors are given one. What
// is behind it is a reflector of package reflector, see engine. The clock of the
// options is that of the waits between rounds; within one the time is real.
func NewReflectorWithOptions(lw ListerWatcher, expectedType any, store ReflectorStore, options ReflectorOptions) *Reflector {
	if options.TypeDescription == "" {
		options.TypeDescription = reflector.DescribeType(expectedType)
	}
	e := &engine{store: store, options: options, source: listwatch.FromListerWatcher[any](lw, expectedType)}
	shell := options
	shell.ResyncPeriod = 0
	e.shell = cache.NewReflectorWithOptions(engineLists{e}, nil, engineStore{}, shell)
	return e.shell
}

// DefaultWatchErrorHandler logs err as loudly as it deserves, see
// [reflector.LogError].
func DefaultWatchErrorHandler(ctx context.Context, r *Reflector, err error) {
	reflector.LogError(ctx, r.Name(), r.TypeDescription(), err)
}
