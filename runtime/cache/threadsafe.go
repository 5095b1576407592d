package cache

import (
	"errors"

	"github.com/kubewright/kubewright/runtime/internal/indexer"
	"github.com/kubewright/kubewright/runtime/internal/store"
)

// ThreadSafeStoreOption is an option for [NewThreadSafeStore]. Like [StoreOption], it can't be client-go's.
type ThreadSafeStoreOption = func(*threadSafeStore)

// WithThreadSafeStoreMetrics is [WithStoreMetrics] for a ThreadSafeStore.
func WithThreadSafeStoreMetrics(
	identifier InformerNameAndResource, metricsProvider InformerMetricsProvider,
) ThreadSafeStoreOption {
	return func(s *threadSafeStore) { s.version = newVersionMetric(identifier, metricsProvider) }
}

// NewThreadSafeStore returns an empty store of objects under the keys that its users pass. It is safe for
// concurrent use. It panics if an index function is nil. indices is ignored: the store computes its
// indexes.
func NewThreadSafeStore(indexers Indexers, indices Indices, opts ...ThreadSafeStoreOption) ThreadSafeStore {
	x := newIndexer(indexer.Strings(func(any) (string, error) { return "", errNoKeyFunc }), indexers)
	s := &threadSafeStore{reads: x, objects: x.Store()}
	for _, opt := range opts {
		opt(s)
	}
	return s
}

var errNoKeyFunc = errors.New("a ThreadSafeStore has no key function")

type (
	reads = indexer.Indexer[string]
	// threadSafeStore reads through an indexer, and writes directly to its store: an indexer computes keys,
	// here the caller passes them.
	threadSafeStore struct {
		*reads
		objects *store.Store[string]
		version versionMetric
	}
)

var _ ThreadSafeStoreWithTransaction = &threadSafeStore{}

// LastStoreSyncResourceVersion returns the version of the store, "" if client-go's gate AtomicFIFO is off.
func (s *threadSafeStore) LastStoreSyncResourceVersion() string { return syncVersion(s.objects) }

func (s *threadSafeStore) Add(key string, obj any) { s.Update(key, obj) }

func (s *threadSafeStore) Update(key string, obj any) {
	s.objects.Set(key, obj, indexer.VersionOf(obj))
	s.written()
}

// Delete leaves the version of the store unchanged, since a key does not have the version of its deletion.
func (s *threadSafeStore) Delete(key string) { s.objects.Delete(key) }

// DeleteWithObject sets the version of the store to that of obj, the object in a watch's Deleted event.
func (s *threadSafeStore) DeleteWithObject(key string, obj any) {
	s.objects.Apply([]store.Change[string]{{Type: store.Deleted, Key: key, Version: indexer.VersionOf(obj)}})
	s.written()
}

func (s *threadSafeStore) Get(key string) (item any, exists bool) { return s.objects.Get(key) }

func (s *threadSafeStore) Replace(items map[string]any, resourceVersion string) {
	staged := s.objects.Begin()
	for key, obj := range items {
		staged.Set(key, obj, indexer.VersionOf(obj))
	}
	staged.Commit(resourceVersion)
	s.written()
}

func (s *threadSafeStore) Bookmark(resourceVersion string) {
	s.objects.Bookmark(resourceVersion)
	s.written()
}

func (s *threadSafeStore) Transaction(txns ...ThreadSafeStoreTransaction) {
	changes := make([]store.Change[string], len(txns))
	for i, txn := range txns {
		changes[i] = store.Change[string]{Type: store.Updated, Key: txn.Key, Object: txn.Object,
			Version: indexer.VersionOf(txn.Object)}
		if txn.Type == TransactionTypeDelete {
			changes[i].Type = store.Deleted
		}
	}
	s.objects.Apply(changes)
	s.written()
}

func (s *threadSafeStore) written() { s.version.set(s.objects.ResourceVersion()) }
