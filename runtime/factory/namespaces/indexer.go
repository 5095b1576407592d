package namespaces

import (
	"context"
	"errors"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/runtime/informer"
)

// multiIndexer reads the caches of the informers of several namespaces as one.
type multiIndexer[F Factory] struct{ of *multiInformer[F] }

// errReadOnly is returned by writes to an indexer of several namespaces.
var errReadOnly = errors.New("the indexer of several namespaces is read-only")

func (multiIndexer[F]) Add(any) error               { return errReadOnly }
func (multiIndexer[F]) Update(any) error            { return errReadOnly }
func (multiIndexer[F]) Delete(any) error            { return errReadOnly }
func (multiIndexer[F]) Replace([]any, string) error { return errReadOnly }
func (multiIndexer[F]) Resync() error               { return nil }
func (multiIndexer[F]) Bookmark(string)             {}

func (multiIndexer[F]) LastStoreSyncResourceVersion() string { return "" }

func (x multiIndexer[F]) Get(obj any) (item any, exists bool, err error) {
	key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(obj)
	if err != nil {
		return nil, false, cache.KeyError{Obj: obj, Err: err}
	}
	return x.GetByKey(key)
}

func (x multiIndexer[F]) GetByKey(key string) (item any, exists bool, err error) {
	namespace, _, err := cache.SplitMetaNamespaceKey(key)
	if err != nil {
		return nil, false, nil // No object has such a key.
	}
	if child := x.of.in(namespace); child != nil {
		return child.GetIndexer().GetByKey(key)
	}
	return nil, false, nil
}

func (x multiIndexer[F]) List() []any {
	list, _ := collect(x.of.now(), func(child cache.Indexer) ([]any, error) { return child.List(), nil })
	return list
}

func (x multiIndexer[F]) ListKeys() []string {
	keys, _ := collect(x.of.now(), func(child cache.Indexer) ([]string, error) { return child.ListKeys(), nil })
	return keys
}

// Index reads a single informer if the index is [cache.NamespaceIndex].
func (x multiIndexer[F]) Index(name string, obj any) ([]any, error) {
	if name == cache.NamespaceIndex {
		if m, err := meta.Accessor(obj); err == nil {
			return x.ByIndex(name, m.GetNamespace())
		}
	}
	return collect(x.of.now(), func(child cache.Indexer) ([]any, error) { return child.Index(name, obj) })
}

func (x multiIndexer[F]) ByIndex(name, value string) ([]any, error) {
	if name == cache.NamespaceIndex {
		child := x.of.in(value)
		if child == nil {
			return []any{}, nil
		}
		return child.GetIndexer().ByIndex(name, value)
	}
	return collect(x.of.now(), func(child cache.Indexer) ([]any, error) { return child.ByIndex(name, value) })
}

func (x multiIndexer[F]) IndexKeys(name, value string) ([]string, error) {
	keys, err := collect(x.of.now(),
		func(child cache.Indexer) ([]string, error) { return child.IndexKeys(name, value) })
	slices.Sort(keys)
	return keys, err
}

func (x multiIndexer[F]) ListIndexFuncValues(name string) []string {
	values, _ := collect(x.of.now(),
		func(child cache.Indexer) ([]string, error) { return child.ListIndexFuncValues(name), nil })
	slices.Sort(values)
	return slices.Compact(values)
}

func (x multiIndexer[F]) GetIndexers() cache.Indexers {
	for _, child := range x.of.now() {
		return child.GetIndexer().GetIndexers()
	}
	return cache.Indexers{}
}

func (x multiIndexer[F]) AddIndexers(indexers cache.Indexers) error {
	return x.of.AddIndexers(indexers)
}

// WaitForOwnWrites waits until the informer of a namespace, or every informer for "", shows
// its client's writes, see [informer.WaitForOwnWrites].
func (x multiIndexer[F]) WaitForOwnWrites(ctx context.Context, namespace string) error {
	children := x.of.now()
	if namespace != "" {
		children = slices.DeleteFunc([]cache.SharedIndexInformer{x.of.in(namespace)},
			func(i cache.SharedIndexInformer) bool { return i == nil })
	}
	for _, child := range children {
		if err := informer.WaitForOwnWrites(ctx, child); err != nil {
			return err
		}
	}
	return nil
}

func collect[E any](children []cache.SharedIndexInformer, of func(cache.Indexer) ([]E, error)) ([]E, error) {
	all := []E{}
	for _, child := range children {
		found, err := of(child.GetIndexer())
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, nil
}
