package cache

import (
	"errors"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/kubewright/kubewright/runtime/informer"
	"github.com/kubewright/kubewright/runtime/store"
)

// ThreadSafeStoreOption adjusts a ThreadSafeStore.
type ThreadSafeStoreOption = func(*threadSafeStore)

// WithThreadSafeStoreMetrics makes the store show its resourceVersion as a
// metric, of the process's provider if metricsProvider is nil.
func WithThreadSafeStoreMetrics(identifier InformerNameAndResource, metricsProvider InformerMetricsProvider) ThreadSafeStoreOption {
	return func(s *threadSafeStore) { s.version = newVersionMetric(identifier, metricsProvider) }
}

// NewThreadSafeStore returns an empty store of objects by keys that its users
// give. It computes indexes itself: indices isn't used.
func NewThreadSafeStore(indexers Indexers, indices Indices, opts ...ThreadSafeStoreOption) ThreadSafeStore {
	x := newIndexer(stringKeys(func(any) (string, error) { return "", errNoKeyFunc }), indexers)
	s := &threadSafeStore{reads: x, objects: x.Store()}
	for _, opt := range opts {
		opt(s)
	}
	return s
}

var errNoKeyFunc = errors.New("a ThreadSafeStore has no key function")

type (
	reads = informer.Indexer[string, any]
	// threadSafeStore takes from an indexer what reads without keys of objects.
	threadSafeStore struct {
		*reads
		objects *store.Store[string, any]
		version versionMetric
	}
)

var _ ThreadSafeStoreWithTransaction = &threadSafeStore{}

// LastStoreSyncResourceVersion is "" where lists are told in parts.
func (s *threadSafeStore) LastStoreSyncResourceVersion() string { return syncVersion(s.objects) }

func (s *threadSafeStore) Add(key string, obj any) { s.Update(key, obj) }

func (s *threadSafeStore) Update(key string, obj any) {
	s.objects.Set(key, obj, versionOf(obj))
	s.written()
}

func (s *threadSafeStore) Delete(key string) { s.objects.Delete(key) }

func (s *threadSafeStore) DeleteWithObject(key string, obj any) {
	s.objects.Apply([]store.Change[string, any]{{Type: store.Deleted, Key: key, Version: versionOf(obj)}})
	s.written()
}

func (s *threadSafeStore) Get(key string) (item any, exists bool) { return s.objects.Get(key) }

func (s *threadSafeStore) Replace(items map[string]any, resourceVersion string) {
	staged := s.objects.Begin()
	for key, obj := range items {
		staged.Set(key, obj, versionOf(obj))
	}
	staged.Commit(resourceVersion)
	s.written()
}

func (s *threadSafeStore) Bookmark(resourceVersion string) {
	s.objects.Bookmark(resourceVersion)
	s.written()
}

func (s *threadSafeStore) Transaction(txns ...ThreadSafeStoreTransaction) {
	changes := make([]store.Change[string, any], len(txns))
	for i, txn := range txns {
		changes[i] = store.Change[string, any]{Type: store.Updated, Key: txn.Key, Object: txn.Object, Version: versionOf(txn.Object)}
		if txn.Type == TransactionTypeDelete {
			changes[i].Type = store.Deleted
		}
	}
	s.objects.Apply(changes)
	s.written()
}

func (s *threadSafeStore) written() { s.version.set(s.objects.ResourceVersion()) }

// versionOf is the resourceVersion of an object, "" if it has none.
func versionOf(obj any) string {
	m, err := meta.Accessor(obj)
	if err != nil {
		return ""
	}
	return m.GetResourceVersion()
}
