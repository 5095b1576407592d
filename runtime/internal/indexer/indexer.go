package indexer

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/runtime/internal/store"
)

// Indexer presents a store as client-go's indexer. A write through it is visible to all
// readers of the store at once. It doesn't notify handlers of the informer, and the next
// event of the object, or the next list, replaces it.
//
// It accepts only objects that the keys admit. client-go's indexer accepts
// every object with a key. It is safe for concurrent use.
type Indexer[K comparable] struct {
	store *store.Store[K]
	keys  Keys[K]
	// filler fills the store, nil if no informer of ours does.
	filler Filler

	// adding is held while indexes are added and index functions called, and taken before mu.
	adding sync.Mutex
	// mu guards indexers: the functions behind the store's indexes.
	mu       sync.RWMutex
	indexers cache.Indexers
}

// Filler is an informer that fills an indexer's store. Listers use it to wait for the
// store.
type Filler interface {
	WaitForVersion(ctx context.Context, resourceVersion string) error
	WaitForOwnWrites(ctx context.Context, namespace string) error
}

var (
	_ cache.Indexer          = &Indexer[string]{}
	_ cache.TransactionStore = &Indexer[string]{}
	_ store.Backed[string]   = &Indexer[string]{}
)

// New returns an indexer over s. All indexes that are to be used through it must
// be added through it.
func New[K comparable](s *store.Store[K], keys Keys[K]) *Indexer[K] {
	return &Indexer[K]{store: s, keys: keys, indexers: cache.Indexers{}}
}

// FilledBy sets the informer that fills the store. Only the constructor of that
// informer calls it.
func (x *Indexer[K]) FilledBy(informer Filler) { x.filler = informer }

var errNoFiller = errors.New("no informer fills the indexer")

// WaitForVersion waits until the store has reached a resourceVersion. It returns an
// error if no informer fills the store.
func (x *Indexer[K]) WaitForVersion(ctx context.Context, resourceVersion string) error {
	if x.filler == nil {
		return fmt.Errorf("wait for a version: %w", errNoFiller)
	}
	return x.filler.WaitForVersion(ctx, resourceVersion)
}

// WaitForOwnWrites waits until the store reflects the writes of the informer's client in
// a namespace, "" for all. It returns an error if no informer fills the store.
func (x *Indexer[K]) WaitForOwnWrites(ctx context.Context, namespace string) error {
	if x.filler == nil {
		return fmt.Errorf("wait for what was written: %w", errNoFiller)
	}
	return x.filler.WaitForOwnWrites(ctx, namespace)
}

// Store returns the store behind the indexer.
func (x *Indexer[K]) Store() *store.Store[K] { return x.store }

// Add stores obj. It returns a [cache.KeyError] if obj has no key, and an error if obj
// is of another type.
func (x *Indexer[K]) Add(obj any) error {
	key, err := x.admitKey(obj)
	if err != nil {
		return err
	}
	x.store.Set(key, obj, VersionOf(obj))
	return nil
}

// Update is Add.
func (x *Indexer[K]) Update(obj any) error { return x.Add(obj) }

// Delete removes the object that has obj's key, if there is one.
func (x *Indexer[K]) Delete(obj any) error {
	key, err := x.keyOf(obj)
	if err != nil {
		return err
	}
	x.store.Apply([]store.Change[K]{{Type: store.Deleted, Key: key, Version: VersionOf(obj)}})
	return nil
}

// Transaction makes several changes that become visible together. It leaves out
// objects without a key; the error lists the changes that were made.
func (x *Indexer[K]) Transaction(txns ...cache.Transaction) *cache.TransactionError {
	changes := make([]store.Change[K], 0, len(txns))
	done := make([]int, 0, len(txns))
	var errs []error
	for n, txn := range txns {
		change := store.Change[K]{Type: store.Updated, Version: VersionOf(txn.Object)}
		var err error
		if txn.Type == cache.TransactionTypeDelete {
			change.Type = store.Deleted
			change.Key, err = x.keyOf(txn.Object)
		} else {
			change.Object = txn.Object
			change.Key, err = x.admitKey(txn.Object)
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

// Replace makes list the content of the store. If it returns an error because
// of one of the objects, the store is unchanged.
func (x *Indexer[K]) Replace(list []any, resourceVersion string) error {
	staged := x.store.Begin()
	for _, obj := range list {
		key, err := x.admitKey(obj)
		if err != nil {
			staged.Discard()
			return err
		}
		staged.Set(key, obj, VersionOf(obj))
	}
	staged.Commit(resourceVersion)
	return nil
}

// Get returns the object that has obj's key.
func (x *Indexer[K]) Get(obj any) (item any, exists bool, err error) {
	key, err := x.keyOf(obj)
	if err != nil {
		return nil, false, err
	}
	item, exists = x.store.Get(key)
	return item, exists, nil
}

// GetByKey returns the object of a key. The error is always nil: no object has
// a malformed key.
func (x *Indexer[K]) GetByKey(key string) (item any, exists bool, err error) {
	k, err := x.keys.Parse(key)
	if err != nil {
		return nil, false, nil
	}
	item, exists = x.store.Get(k)
	return item, exists, nil
}

// List returns every object, in no particular order.
func (x *Indexer[K]) List() []any { return x.store.List() }

// ListKeys returns every key, in no particular order.
func (x *Indexer[K]) ListKeys() []string { return x.keys.List(x.store.Snapshot()) }

// LastStoreSyncResourceVersion returns the last resourceVersion that the store
// has seen.
func (x *Indexer[K]) LastStoreSyncResourceVersion() string { return x.store.ResourceVersion() }

// Bookmark records that the store has reached a resourceVersion.
func (x *Indexer[K]) Bookmark(resourceVersion string) { x.store.Bookmark(resourceVersion) }

// Resync does nothing.
func (x *Indexer[K]) Resync() error { return nil }

func (x *Indexer[K]) keyOf(obj any) (K, error) {
	key, err := x.keys.OfAny(obj)
	if err != nil {
		return key, cache.KeyError{Obj: obj, Err: err}
	}
	return key, nil
}

// admitKey returns the key of an object that is to be stored.
func (x *Indexer[K]) admitKey(obj any) (K, error) {
	key, err := x.keyOf(obj)
	if err == nil && !x.keys.Admits(obj) {
		err = fmt.Errorf("object %q is a %T, this store holds %s", x.keys.String(key), obj, x.keys.Type)
	}
	return key, err
}
