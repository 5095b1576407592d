package cache

import (
	"fmt"

	"k8s.io/client-go/features"

	"github.com/kubewright/kubewright/runtime/internal/indexer"
	"github.com/kubewright/kubewright/runtime/internal/store"
)

// StoreOption is an option for [NewStore] and [NewIndexer]. As a function over an unexported type it can't
// be client-go's: options of one package don't compile with stores of the other.
type StoreOption = func(*observedIndexer)

// WithTransformer makes a store hold the result of transformer for each object that is added, updated or
// listed. If the transformation of an object fails, the write returns the error; Replace then refuses the
// whole list.
func WithTransformer(transformer TransformFunc) StoreOption {
	return func(x *observedIndexer) { x.transform = transformer }
}

// WithStoreMetrics makes a store show its resourceVersion as a metric, if identifier is reserved. If
// metrics is nil, the provider is the one that [SetInformerMetricsProvider] set.
func WithStoreMetrics(identifier InformerNameAndResource, metrics InformerMetricsProvider) StoreOption {
	return func(x *observedIndexer) { x.version = newVersionMetric(identifier, metrics) }
}

// NewStore returns an empty store of objects under the keys that keyFunc returns. It is safe for concurrent
// use. Its objects must not be changed while they are in it.
func NewStore(keyFunc KeyFunc, opts ...StoreOption) Store { return NewIndexer(keyFunc, nil, opts...) }

// NewIndexer is [NewStore] with indexes. It panics if an index function is nil.
func NewIndexer(keyFunc KeyFunc, indexers Indexers, opts ...StoreOption) Indexer {
	x := &observedIndexer{reads: newIndexer(indexer.Strings(keyFunc), indexers), keyFunc: keyFunc}
	for _, opt := range opts {
		opt(x)
	}
	if x.transform == nil && x.version.gauge == nil && features.FeatureGates().Enabled(features.AtomicFIFO) {
		return x.reads // Without a transform and a metric, reads and writes need no detour.
	}
	return x
}

// newIndexer returns an empty indexer. It panics if an index function is nil; client-go's panics later, on
// the first object.
func newIndexer(keys indexer.Keys[string], indexers Indexers) *indexer.Indexer[string] {
	x := indexer.New(store.New[string](), keys)
	if err := x.AddIndexers(indexers); err != nil {
		panic(err) // A nil function: a new store has no index whose name is taken.
	}
	return x
}

// observedIndexer is an indexer with a transform or a metric, or one that gets lists in parts.
//
// It has all methods of the unexported type in client-go's StoreOption, because tools that compare exported
// APIs, such as apidiff, compare these types, too.
type observedIndexer struct {
	*reads
	keyFunc   KeyFunc
	transform TransformFunc
	version   versionMetric
}

func (x *observedIndexer) transformed(obj any) (any, error) {
	if x.transform == nil {
		return obj, nil
	}
	transformed, err := x.transform(obj)
	if err != nil {
		return nil, fmt.Errorf("transforming: %w", err)
	}
	return transformed, nil
}

// written shows the version of the store if a change succeeded. It returns the error of the change.
func (x *observedIndexer) written(err error) error {
	if err == nil {
		x.version.set(x.Store().ResourceVersion())
	}
	return err
}

// LastStoreSyncResourceVersion returns the version of the store. It is always "" if client-go's gate
// AtomicFIFO is off: a list then comes in parts, and between two of them the store is at no version.
func (x *observedIndexer) LastStoreSyncResourceVersion() string { return syncVersion(x.Store()) }

// syncVersion returns the version of a store, "" if client-go's gate AtomicFIFO is off.
func syncVersion(s *store.Store[string]) string {
	if !features.FeatureGates().Enabled(features.AtomicFIFO) {
		return ""
	}
	return s.ResourceVersion()
}

// keyAndTransform returns the key of an object and the transformed object. As in client-go, the key is that
// of the object before its transformation.
func (x *observedIndexer) keyAndTransform(obj any) (key string, transformed any, err error) {
	if key, err = x.keyFunc(obj); err != nil {
		return "", nil, KeyError{Obj: obj, Err: err}
	}
	transformed, err = x.transformed(obj)
	return key, transformed, err
}

func (x *observedIndexer) Add(obj any) error {
	key, obj, err := x.keyAndTransform(obj)
	if err != nil {
		return err
	}
	x.Store().Set(key, obj, indexer.VersionOf(obj))
	return x.written(nil)
}

func (x *observedIndexer) Update(obj any) error { return x.Add(obj) }

func (x *observedIndexer) Delete(obj any) error { return x.written(x.reads.Delete(obj)) }

// Replace stages the list, so that a list that is refused doesn't change the store.
func (x *observedIndexer) Replace(list []any, resourceVersion string) error {
	staged := x.Store().Begin()
	for _, obj := range list {
		key, obj, err := x.keyAndTransform(obj)
		if err != nil {
			staged.Discard()
			return err
		}
		staged.Set(key, obj, indexer.VersionOf(obj))
	}
	staged.Commit(resourceVersion)
	return x.written(nil)
}

func (x *observedIndexer) Bookmark(resourceVersion string) {
	x.reads.Bookmark(resourceVersion)
	x.version.set(resourceVersion)
}

func (x *observedIndexer) Transaction(txns ...Transaction) *TransactionError {
	err := x.reads.Transaction(txns...)
	x.version.set(x.Store().ResourceVersion())
	return err
}

// NewUndeltaStore returns a store that calls pushFunc after each change with all objects that it then
// holds. If two goroutines change it at the same time, the calls may come in either order.
func NewUndeltaStore(pushFunc func([]any), keyFunc KeyFunc) *UndeltaStore {
	return &UndeltaStore{Store: NewStore(keyFunc), PushFunc: pushFunc}
}
