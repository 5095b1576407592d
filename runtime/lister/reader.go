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

// reader is a lister that knows no types.
type reader struct {
	of        finder
	namespace string // empty for all namespaces and for cluster-scoped objects
}

// behind is found by the functions that take a lister.
func (r reader) behind() reader { return r }

// finder is a *source. Behind an interface it is out of sight of generated
// packages: those would compile a store's methods if its type were in sight.
type finder interface {
	// list calls yield for each object that is to be listed. Before, it calls
	// room with their number if it knows that and it isn't zero.
	list(namespace string, selector labels.Selector, room func(int), yield func(any)) error
	get(namespace, name string) (any, error)
}

// source is what is read. It doesn't change.
type source struct {
	indexer cache.Indexer
	// store is the one behind indexer, or nil. Its objects are known to be
	// keyed by their namespace and name.
	store    *store.Store[cache.ObjectName]
	resource schema.GroupResource
	// viewsOnly is true if the lister returns views instead of the objects.
	viewsOnly bool
}

// newSource is not inlined: the source's type would be in sight.
//
//go:noinline
func newSource(indexer cache.Indexer, resource schema.GroupResource, viewsOnly bool) finder {
	// An indexer that is only seen as typed has another one inside.
	if shell, ok := indexer.(interface{ Untyped() cache.Indexer }); ok {
		indexer = shell.Untyped()
	}
	s := &source{indexer: indexer, resource: resource, viewsOnly: viewsOnly}
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

// inNamespace returns the objects of a namespace, all that have the labels that are wanted
// among them. What has no store is asked for all namespaces if it is empty.
func (s *source) inNamespace(namespace string, wanted []store.LabelValues) ([]any, error) {
	if s.store == nil {
		return listIndexer(s.indexer, namespace)
	}
	indexed, err := s.store.LabeledByIndex(cache.NamespaceIndex, namespace, wanted)
	if err == nil {
		return indexed, nil
	}
	// There is no such index. The namespace is in the keys.
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
	return getFrom(s.indexer, s.resource, key, name)
}
