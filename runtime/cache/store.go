package cache

import (
	"fmt"

	"k8s.io/client-go/features"

	"github.com/kubewright/kubewright/runtime/informer"
	"github.com/kubewright/kubewright/runtime/internal/store"
)

// StoreOption adjusts a store.
type StoreOption = func(*observedIndexer)

// WithTransformer makes every object that is added, updated or part of a
// replacement pass through transformer before it is stored.
func WithTransformer(transformer TransformFunc) StoreOption {
	return func(x *observedIndexer) { x.transform = transformer }
}

// WithStoreMetrics makes the store show its resourceVersion as a metric, of the
// process's provider if metrics is nil.
func WithStoreMetrics(identifier InformerNameAndResource, metrics InformerMetricsProvider) StoreOption {
	return func(x *observedIndexer) { x.version = newVersionMetric(identifier, metrics) }
}

// NewStore returns an empty store of objects with the keys that keyFunc gives
// them. It is safe for concurrent use.
func NewStore(keyFunc KeyFunc, opts ...StoreOption) Store { return NewIndexer(keyFunc, nil, opts...) }

// NewIndexer returns an empty store with indexes. It is safe for concurrent use.
func NewIndexer(keyFunc KeyFunc, indexers Indexers, opts ...StoreOption) Indexer {
	x := &observedIndexer{reads: newIndexer(stringKeys(keyFunc), indexers), keyFunc: keyFunc}
	for _, opt := range opts {
		opt(x)
	}
	if x.transform == nil && x.version.gauge == nil && features.FeatureGates().Enabled(features.AtomicFIFO) {
		return x.reads
	}
	return x
}

func newIndexer(keys informer.Keys[string, any], indexers Indexers) *informer.Indexer[string, any] {
	x := informer.NewIndexer(store.New(store.Config[string, any]{}), keys)
	if err := x.AddIndexers(indexers); err != nil {
		panic(err) // A new store has no index that could be in the way: a function is nil.
	}
	return x
}

// stringKeys are keys as people's key functions give them.
func stringKeys(keyFunc KeyFunc) informer.Keys[string, any] {
	return informer.Keys[string, any]{
		Of:     keyFunc,
		OfAny:  keyFunc,
		String: func(key string) string { return key },
		Parse:  func(key string) (string, error) { return key, nil },
	}
}

// observedIndexer is an indexer with a transform or a metric, or one that may be
// told lists in parts. StoreOption shows it, so it has to have the methods of what
// is behind client-go's options: apidiff compares them.
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

func (x *observedIndexer) written(err error) error {
	if err == nil {
		x.version.set(x.Store().ResourceVersion())
	}
	return err
}

// LastStoreSyncResourceVersion is "" where lists are told in parts: between two of
// them the store is at no version.
func (x *observedIndexer) LastStoreSyncResourceVersion() string { return syncVersion(x.Store()) }

// syncVersion is the version of a store, if client-go's switch lets it be known.
func syncVersion(s *store.Store[string, any]) string {
	if !features.FeatureGates().Enabled(features.AtomicFIFO) {
		return ""
	}
	return s.ResourceVersion()
}

// accept returns the key of an object and what it is transformed to. The key is
// that of the object before.
func (x *observedIndexer) accept(obj any) (key string, transformed any, err error) {
	if key, err = x.keyFunc(obj); err != nil {
		return "", nil, KeyError{Obj: obj, Err: err}
	}
	transformed, err = x.transformed(obj)
	return key, transformed, err
}

func (x *observedIndexer) Add(obj any) error {
	key, obj, err := x.accept(obj)
	if err != nil {
		return err
	}
	x.Store().Set(key, obj, versionOf(obj))
	return x.written(nil)
}

func (x *observedIndexer) Update(obj any) error { return x.Add(obj) }

func (x *observedIndexer) Delete(obj any) error { return x.written(x.reads.Delete(obj)) }

func (x *observedIndexer) Replace(list []any, resourceVersion string) error {
	staged := x.Store().Begin()
	for _, obj := range list {
		key, obj, err := x.accept(obj)
		if err != nil {
			staged.Discard()
			return err
		}
		staged.Set(key, obj, versionOf(obj))
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

// NewUndeltaStore returns a store that calls pushFunc, after each change, with
// all that it then holds. Two changes at a time may be pushed in either order.
func NewUndeltaStore(pushFunc func([]any), keyFunc KeyFunc) *UndeltaStore {
	return &UndeltaStore{Store: NewStore(keyFunc), PushFunc: pushFunc}
}
