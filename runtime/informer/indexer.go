package informer

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/runtime/internal/store"
)

// Indexer shows a store as client-go's indexer, typed and untyped. What is
// written through it is visible to all readers of the store at once.
//
// It takes objects of type T only, or of the type that its keys name; client-go's
// takes whatever has a key.
type Indexer[K comparable, T any] struct {
	store *store.Store[K, T]
	keys  Keys[K, T]
	// informer is who fills the store, nil if nobody of ours does.
	informer *Informer[K, T]
	// settled is a deletion of the informer's client: it and those before it are
	// known to be over in the store.
	settled atomic.Uint64

	// mu guards indexers: the functions behind the store's indexes.
	mu       sync.RWMutex
	indexers cache.Indexers
}

var (
	_ cache.TypedIndexer[any]   = &Indexer[string, any]{}
	_ cache.TransactionStore    = &Indexer[string, any]{}
	_ store.Backed[string, any] = &Indexer[string, any]{}
)

// NewIndexer returns an indexer over s. All indexes that are to be used through
// it must be added through it.
func NewIndexer[K comparable, T any](s *store.Store[K, T], keys Keys[K, T]) *Indexer[K, T] {
	return &Indexer[K, T]{store: s, keys: keys, indexers: cache.Indexers{}}
}

// WaitFor waits until the store shows a version, see [Informer.WaitFor]. It is an
// error if no informer fills the store.
func (x *Indexer[K, T]) WaitFor(ctx context.Context, resourceVersion string) error {
	if x.informer == nil {
		return errors.New("wait for a version: no informer fills the indexer")
	}
	return x.informer.WaitFor(ctx, resourceVersion)
}

// Store returns the store behind the indexer.
func (x *Indexer[K, T]) Store() *store.Store[K, T] { return x.store }

// Add stores obj. The error is a [cache.KeyError], or says that obj isn't a T.
func (x *Indexer[K, T]) Add(obj any) error {
	key, typed, err := x.accept(obj)
	if err != nil {
		return err
	}
	x.store.Set(key, typed, versionOf(typed))
	return nil
}

// Update is Add.
func (x *Indexer[K, T]) Update(obj any) error { return x.Add(obj) }

// Delete removes the object that has obj's key, if there is one.
func (x *Indexer[K, T]) Delete(obj any) error {
	key, err := x.keyOf(obj)
	if err != nil {
		return err
	}
	x.store.Apply([]store.Change[K, T]{{Type: store.Deleted, Key: key, Version: versionOf(obj)}})
	return nil
}

// Transaction makes several changes that become visible together. Those that
// have no key are left out, and the error says which were not.
func (x *Indexer[K, T]) Transaction(txns ...cache.Transaction) *cache.TransactionError {
	changes := make([]store.Change[K, T], 0, len(txns))
	done := make([]int, 0, len(txns))
	var errs []error
	for n, txn := range txns {
		change := store.Change[K, T]{Type: store.Updated, Version: versionOf(txn.Object)}
		var err error
		if txn.Type == cache.TransactionTypeDelete {
			change.Type = store.Deleted
			change.Key, err = x.keyOf(txn.Object)
		} else {
			change.Key, change.Object, err = x.accept(txn.Object)
		}
		if err != nil {
			errs = append(errs, err)
			continue
		}
		changes, done = append(changes, change), append(done, n)
	}
	x.store.Apply(changes)
	if len(errs) > 0 {
		return &cache.TransactionError{SuccessfulIndices: done, TotalTransactions: len(txns), Errors: errs}
	}
	return nil
}

// Replace makes list the content of the store. If one of its objects is
// refused, the store stays as it is.
func (x *Indexer[K, T]) Replace(list []any, resourceVersion string) error {
	staged := x.store.Begin()
	for _, obj := range list {
		key, typed, err := x.accept(obj)
		if err != nil {
			staged.Discard()
			return err
		}
		staged.Set(key, typed, versionOf(typed))
	}
	staged.Commit(resourceVersion)
	return nil
}

// Get returns the object that has obj's key.
func (x *Indexer[K, T]) Get(obj any) (item any, exists bool, err error) {
	key, err := x.keyOf(obj)
	if err != nil {
		return nil, false, err
	}
	return x.get(key)
}

// GetByKey returns the object of a key. The error is always nil: no object has
// a key that is none.
func (x *Indexer[K, T]) GetByKey(key string) (item any, exists bool, err error) {
	k, err := x.keys.Parse(key)
	if err != nil {
		return nil, false, nil
	}
	return x.get(k)
}

func (x *Indexer[K, T]) get(key K) (any, bool, error) {
	if obj, ok := x.store.Get(key); ok {
		return obj, true, nil
	}
	return nil, false, nil
}

// List returns every object, in no particular order.
func (x *Indexer[K, T]) List() []any { return boxed(x.store.List()) }

// ListKeys returns every key, in no particular order.
func (x *Indexer[K, T]) ListKeys() []string { return x.strings(x.store.Keys()) }

// LastStoreSyncResourceVersion returns the last resourceVersion that the store
// has seen.
func (x *Indexer[K, T]) LastStoreSyncResourceVersion() string { return x.store.ResourceVersion() }

// Bookmark tells the store a resourceVersion that it has reached.
func (x *Indexer[K, T]) Bookmark(resourceVersion string) { x.store.Bookmark(resourceVersion) }

// Resync does nothing.
func (x *Indexer[K, T]) Resync() error { return nil }

func (x *Indexer[K, T]) keyOf(obj any) (K, error) {
	key, err := x.keys.OfAny(obj)
	if err != nil {
		return key, cache.KeyError{Obj: obj, Err: err}
	}
	return key, nil
}

// accept returns the key and the type of an object that is to be stored.
func (x *Indexer[K, T]) accept(obj any) (K, T, error) {
	typed, ok := x.keys.admits(obj)
	key, err := x.keyOf(obj)
	if err == nil && !ok {
		err = fmt.Errorf("object %q is a %T, this store holds %s", x.keys.String(key), obj, x.keys.typeName())
	}
	return key, typed, err
}

func (x *Indexer[K, T]) strings(keys []K) []string {
	strings := make([]string, len(keys))
	for i, key := range keys {
		strings[i] = x.keys.String(key)
	}
	return strings
}

func boxed[T any](objects []T) []any {
	if list, ok := any(objects).([]any); ok {
		return list
	}
	list := make([]any, len(objects))
	for i, obj := range objects {
		list[i] = obj
	}
	return list
}
