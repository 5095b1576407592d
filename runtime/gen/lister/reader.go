package lister

import (
	"iter"
	"slices"

	"k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/runtime/internal/store"
)

// reader is a lister without type parameters.
type reader struct {
	of        finder
	namespace string // empty for all namespaces and for cluster-scoped objects
}

// Behind returns the indexer that the lister reads, and its namespace. Package lister calls it.
func (r reader) Behind() (indexer cache.Indexer, namespace string) {
	if s, ok := r.of.(*source); ok {
		indexer = s.indexer
	}
	return indexer, r.namespace
}

// finder is a *source. The interface hides its type from generated packages, which
// would otherwise compile the store's methods.
type finder interface {
	// list calls yield for each object of the list. If it knows their number and
	// the number isn't zero, it calls room with it first.
	list(namespace string, selector labels.Selector, room func(int), yield func(any)) error
	get(namespace, name string) (any, error)
}

// source is what a lister reads. It is immutable.
type source struct {
	indexer cache.Indexer
	// store is the store behind indexer, or nil. Its keys are the objects' namespaces
	// and names.
	store    *store.Store[cache.ObjectName]
	resource schema.GroupResource
}

// newSource is not inlined, to hide the source's type from generated packages.
//
//go:noinline
func newSource(indexer cache.Indexer, resource schema.GroupResource) finder {
	// A typed indexer of package informer has the indexer itself inside.
	if typed, ok := indexer.(interface{ Untyped() cache.Indexer }); ok {
		indexer = typed.Untyped()
	}
	s := &source{indexer: indexer, resource: resource}
	if backed, ok := indexer.(store.Backed[cache.ObjectName]); ok {
		s.store = backed.Store()
	}
	return s
}

func (s *source) list(namespace string, selector labels.Selector, room func(int), yield func(any)) error {
	if labels.MatchesNothing(selector) {
		return nil
	}
	m := newMatcher(selector)
	if found, ok := s.byRarestLabel(namespace, m.wanted); ok {
		return m.yieldMatching(oneChunk(found), yield)
	}
	if s.store != nil && namespace == "" {
		snapshot := s.store.Snapshot()
		if selector.Empty() {
			yieldAll(snapshot.Len(), snapshot.Values(), room, yield)
			return nil
		}
		return m.yieldMatching(snapshot.Labeled(m.wanted), yield)
	}
	found, err := s.inNamespace(namespace, m.wanted)
	if err != nil {
		return err
	}
	if !selector.Empty() {
		return m.yieldMatching(oneChunk(found), yield)
	}
	yieldAll(len(found), slices.Values(found), room, yield)
	return nil
}

func yieldAll(n int, objects iter.Seq[any], room func(int), yield func(any)) {
	if n == 0 {
		return
	}
	room(n)
	for obj := range objects {
		yield(obj)
	}
}

// inNamespace returns the objects of a namespace, at least all that have the wanted labels.
// Only without a store may the namespace be empty, which means all namespaces.
func (s *source) inNamespace(namespace string, wanted []store.LabelValues) ([]any, error) {
	if s.store == nil {
		return listIndexer(s.indexer, namespace)
	}
	indexed, err := s.store.LabeledByIndex(cache.NamespaceIndex, namespace, wanted)
	if err == nil {
		return indexed, nil
	}
	// There is no index by namespace, but the keys have the namespace.
	var found []any
	for key, obj := range s.store.All() {
		if key.Namespace == namespace {
			found = append(found, obj)
		}
	}
	return found, nil
}

// oneChunk yields a slice.
func oneChunk(objects []any) iter.Seq[[]any] {
	return func(yield func([]any) bool) { yield(objects) }
}

func (s *source) get(namespace, name string) (any, error) {
	if s.store != nil {
		if key, ok := keyOf(namespace, name); ok {
			if obj, ok := s.store.Get(key); ok {
				return obj, nil
			}
		}
		return nil, errors.NewNotFound(s.resource, name)
	}
	key := name
	if namespace != "" {
		key = namespace + "/" + name
	}
	obj, exists, err := s.indexer.GetByKey(key)
	if err != nil {
		return nil, err
	}
	if !exists {
		return nil, errors.NewNotFound(s.resource, name)
	}
	return obj, nil
}
