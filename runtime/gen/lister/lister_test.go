package lister

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/runtime/internal/store"
)

type thing = metav1.PartialObjectMetadata

var things = schema.GroupResource{Group: "example.com", Resource: "things"}

func newThing(namespace, name string, labels map[string]string) *thing {
	return &thing{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: labels}}
}

// backed is client-go's indexer with a store of ours beside it, which listers must prefer: the indexer is
// empty.
type backed struct {
	cache.Indexer
	store *store.Store[cache.ObjectName]
}

func (b backed) Store() *store.Store[cache.ObjectName] { return b.store }

func newStore(indexes map[string]store.IndexFunc) *store.Store[cache.ObjectName] {
	s := store.New[cache.ObjectName]()
	if err := s.AddIndexes(indexes); err != nil {
		panic(err)
	}
	return s
}

func put(s *store.Store[cache.ObjectName], o *thing) { s.Set(cache.MetaObjectToName(o), o, "") }

var namespaceIndexer = cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}

// indexers returns indexers with the same objects, of each kind that a lister distinguishes.
func indexers(t testing.TB, objects []*thing) map[string]cache.Indexer {
	made := map[string]cache.Indexer{}
	for name, indexed := range map[string]bool{"indexed": true, "not indexed": false} {
		clientGo, ours := cache.Indexers{}, map[string]store.IndexFunc{}
		if indexed {
			clientGo = namespaceIndexer
			ours[cache.NamespaceIndex] = func(o any) []string { return []string{o.(*thing).Namespace} }
		}
		i := cache.NewIndexer(cache.MetaNamespaceKeyFunc, clientGo)
		s := newStore(ours)
		for _, o := range objects {
			if err := i.Add(o); err != nil {
				t.Fatal(err)
			}
			put(s, o)
		}
		made["client-go's indexer, "+name] = i
		made["our store, "+name] = backed{cache.NewIndexer(cache.MetaNamespaceKeyFunc, nil), s}
	}
	return made
}

func sorted[T metav1.Object](objects []T) []T {
	slices.SortFunc(objects, func(a, b T) int {
		return cmp.Or(cmp.Compare(a.GetNamespace(), b.GetNamespace()), cmp.Compare(a.GetName(), b.GetName()))
	})
	return objects
}

// typed converts client-go's untyped results, to compare them with ours.
func typed(objects []runtime.Object) (list []*thing) {
	for _, obj := range objects {
		list = append(list, obj.(*thing))
	}
	return list
}

func selectors(t testing.TB) (list []labels.Selector) {
	for _, s := range []string{"", "a=1", "a=2", "a!=1", "a in (1,2),b", "!b", "c", "a=1,a=2"} {
		selector, err := labels.Parse(s)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, selector)
	}
	return append(list, labels.Nothing(), labels.Everything())
}

// TestLikeClientGo compares listers with client-go's generic lister, which reads indexers as its typed ones
// do.
func TestLikeClientGo(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	var objects []*thing
	for i := range 2000 { // more than one page of a store
		set := map[string]string{}
		for _, key := range []string{"a", "b"} {
			if r.IntN(3) > 0 {
				set[key] = fmt.Sprint(r.IntN(3))
			}
		}
		namespace := []string{"", "one", "two"}[r.IntN(3)]
		objects = append(objects, newThing(namespace, fmt.Sprint("name-", i%1000), set))
	}
	for name, indexer := range indexers(t, objects) {
		t.Run(name, func(t *testing.T) {
			reference := cache.NewIndexer(cache.MetaNamespaceKeyFunc, namespaceIndexer)
			for _, o := range objects {
				if err := reference.Add(o); err != nil {
					t.Fatal(err)
				}
			}
			want := cache.NewGenericLister(reference, things)
			all := New[*thing](indexer, things)
			compare(t, "all", all, want)
			for _, namespace := range []string{"", "one", "two", "none"} {
				compare(t, namespace, NewNamespaced(all, namespace), want.ByNamespace(namespace))
				compare(t, namespace, Embedding[*thing]{all}.ByNamespace(namespace), want.ByNamespace(namespace))
				compare(t, namespace, fromGeneric{NewGeneric(indexer, things).ByNamespace(namespace)},
					want.ByNamespace(namespace))
			}
			compare(t, "generic", fromGeneric{NewGeneric(indexer, things)}, want)
		})
	}
}

// TestChangedLabels checks that lists by labels, which store summaries for later lists, examine an object
// again after it was put again. They don't examine objects that were changed in place, which is forbidden.
func TestChangedLabels(t *testing.T) {
	var objects []*thing
	for i := range 1000 {
		objects = append(objects,
			newThing("one", fmt.Sprint("name-", i), map[string]string{"a": fmt.Sprint(i)}))
	}
	selector := parse(t, "a=x")
	for name, indexer := range indexers(t, objects) {
		l := New[*thing](indexer, things)
		// list lists until all summaries are complete.
		list := func() (n [2]int) {
			for range 600 {
				for i, l := range []ResourceIndexer[*thing]{l, NewNamespaced(l, "one")} {
					found, err := l.List(selector)
					if err != nil {
						t.Fatal(err)
					}
					n[i] = len(found)
				}
			}
			return n
		}
		put := func(o *thing) {
			if b, ok := indexer.(backed); ok {
				put(b.store, o)
			} else if err := indexer.Update(o); err != nil {
				t.Fatal(err)
			}
		}
		if n := list(); n != [2]int{} {
			t.Errorf("%s: %d objects before any has the label", name, n)
		}
		put(newThing("one", "name-1", map[string]string{"a": "x"}))
		if n := list(); n != [2]int{1, 1} {
			t.Errorf("%s: %d objects after one was replaced", name, n)
		}
		changed := objects[10:20]
		for _, o := range changed {
			o.Labels["a"] = "x"
		}
		seen := [2]bool{true, true}
		switch name {
		case "our store, indexed":
			seen = [2]bool{}
		case "our store, not indexed":
			seen = [2]bool{false, true} // all objects of the namespace are examined
		}
		for i, n := range list() {
			// One in ten thousand is found by chance.
			if (n == 11) != seen[i] {
				t.Errorf("%s: %d objects after ten were changed in place, are seen: %t", name, n, seen[i])
			}
		}
		for _, o := range changed {
			put(o)
		}
		if n := list(); n != [2]int{11, 11} {
			t.Errorf("%s: %d objects after those were put again", name, n)
		}
		for i, o := range changed {
			o.Labels["a"] = fmt.Sprint(10 + i)
		}
	}
}

// fromGeneric adapts a generic lister to the typed interface.
type fromGeneric struct{ cache.GenericNamespaceLister }

func (l fromGeneric) List(selector labels.Selector) ([]*thing, error) {
	list, err := l.GenericNamespaceLister.List(selector)
	return typed(list), err
}

func (l fromGeneric) Get(name string) (*thing, error) {
	obj, err := l.GenericNamespaceLister.Get(name)
	if err != nil {
		return nil, err
	}
	return obj.(*thing), nil
}

func compare(t *testing.T, what string, got interface {
	List(labels.Selector) ([]*thing, error)
	Get(string) (*thing, error)
}, want cache.GenericNamespaceLister) {
	t.Helper()
	for _, selector := range selectors(t) {
		gotList, gotErr := got.List(selector)
		wantList, wantErr := want.List(selector)
		if !reflect.DeepEqual(sorted(gotList), sorted(typed(wantList))) ||
			!reflect.DeepEqual(gotErr, wantErr) {
			t.Errorf("%q: List(%v) = %d objects, %v, want %d, %v", what, selector, len(gotList), gotErr,
				len(wantList), wantErr)
		}
	}
	for _, name := range []string{
		"name-1", "name-2", "name-3", "name-4", "none", "one/name-1", "one/name-2", "one/name-3",
		"two/name-3", "/name-1", "/name-2", "one/", "one/two/three", "",
	} {
		gotObj, gotErr := got.Get(name)
		wantObj, wantErr := want.Get(name)
		// client-go's typed listers treat the empty namespace as no namespace, its generic one as a namespace
		// of that name, whose keys start with a slash.
		if _, generic := got.(fromGeneric); what == "" && !generic {
			continue
		}
		if !reflect.DeepEqual(gotErr, wantErr) || wantErr == nil && gotObj != wantObj {
			t.Errorf("%q: Get(%q) = %v, %v, want %v, %v", what, name, gotObj, gotErr, wantObj, wantErr)
		}
	}
}

func TestGetNamesTheResource(t *testing.T) {
	for name, indexer := range indexers(t, nil) {
		_, err := NewNamespaced(New[*thing](indexer, things), "one").Get("name")
		if want := `things.example.com "name" not found`; !apierrors.IsNotFound(err) || err.Error() != want {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
		if obj, err := New[*thing](indexer, things).Get("name"); obj != nil || !apierrors.IsNotFound(err) {
			t.Errorf("%s: %v, %v, want NotFound", name, obj, err)
		}
	}
}

// bare is an object without metadata.
type bare struct{ runtime.Object }

func TestObjectsWithoutMetadata(t *testing.T) {
	byAddress := func(any) (string, error) { return "key", nil }
	untyped := cache.NewIndexer(byAddress, cache.Indexers{})
	if err := untyped.Add(bare{}); err != nil {
		t.Fatal(err)
	}
	l := New[bare](untyped, things)
	if list, err := l.List(labels.Everything()); len(list) != 1 || err != nil {
		t.Errorf("%v, %v, want the objects that the empty selector matches", list, err)
	}
	selector := labels.SelectorFromSet(labels.Set{"a": "1"})
	if list, err := l.List(selector); list != nil || err == nil {
		t.Errorf("%v, %v, want an error", list, err)
	}
	if list, err := NewNamespaced(l, "one").List(selector); list != nil || err == nil {
		t.Errorf("%v, %v, want an error", list, err)
	}
	s := newStore(nil)
	s.Set(cache.ObjectName{}, bare{}, "")
	if list, err := New[bare](backed{untyped, s}, things).List(selector); list != nil || err == nil {
		t.Errorf("%v, %v, want an error", list, err)
	}
}

// failing is an indexer whose look-ups fail.
type failing struct{ cache.Indexer }

var errFailing = errors.New("look-up failed")

func (failing) GetByKey(string) (any, bool, error) { return nil, false, errFailing }

func TestGetReturnsTheIndexersError(t *testing.T) {
	if _, err := New[*thing](failing{}, things).Get("name"); err != errFailing {
		t.Errorf("%v, want %v", err, errFailing)
	}
	if _, err := NewGeneric(failing{}, things).Get("name"); err != errFailing {
		t.Errorf("%v, want %v", err, errFailing)
	}
}
