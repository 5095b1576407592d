package lister

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/runtime/internal/store"
	"github.com/kubewright/kubewright/runtime/lister"
)

// declared returns a lister over a store with indexes of labels and fields.
func declared(objects []*thing, namespaces bool, labels ...string) ResourceIndexer[*thing] {
	indexes := map[string]store.IndexFunc{
		store.FieldIndex("metadata.name"): func(o any) []string { return []string{o.(*thing).Name} },
		store.FieldIndex("letters"):       func(o any) []string { return strings.Split(o.(*thing).Name, "") },
	}
	for _, label := range labels {
		indexes[store.LabelIndex(label)] = store.ByLabel(label)
	}
	if namespaces {
		indexes[cache.NamespaceIndex] = func(o any) []string { return []string{o.(*thing).Namespace} }
	}
	s := newStore(indexes)
	for _, o := range objects {
		put(s, o)
	}
	return New[*thing](backed{cache.NewIndexer(cache.MetaNamespaceKeyFunc, nil), s}, things)
}

// TestIndexesChangeNoAnswer checks that, whichever labels are indexed, a lister returns for any selector the
// same objects as client-go's.
func TestIndexesChangeNoAnswer(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	keys, values := []string{"a", "b", "c"}, []string{"", "1", "2", "3"}
	var objects []*thing
	for n := range 300 {
		set := map[string]string{}
		for _, key := range keys {
			if r.IntN(3) > 0 {
				set[key] = values[r.IntN(len(values))]
			}
		}
		objects = append(objects, newThing(fmt.Sprint("ns", r.IntN(4)), fmt.Sprint("object", n), set))
	}
	theirs := cache.NewGenericLister(indexers(t, objects)["client-go's indexer, indexed"], things)
	listers := []ResourceIndexer[*thing]{
		declared(objects, true, "a"), declared(objects, false, "b", "c"), declared(objects, true, keys...),
	}
	terms := []func(key string) string{
		func(key string) string { return key },
		func(key string) string { return "!" + key },
		func(key string) string { return key + "=" + values[r.IntN(len(values))] },
		func(key string) string { return key + "!=" + values[r.IntN(len(values))] },
		func(key string) string {
			return fmt.Sprintf("%s in (%s,%s)", key, values[r.IntN(4)], values[r.IntN(4)])
		},
		func(key string) string { return fmt.Sprintf("%s notin (%s)", key, values[r.IntN(4)]) },
		func(key string) string { return fmt.Sprintf("%s>%d", key, r.IntN(3)) },
	}
	found := 0
	for range 2000 {
		var parts []string
		for range 1 + r.IntN(3) {
			parts = append(parts, terms[r.IntN(len(terms))](keys[r.IntN(len(keys))]))
		}
		text := strings.Join(parts, ",")
		selector, err := labels.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		namespace := []string{"", "ns0", "ns1", "nowhere"}[r.IntN(4)]
		want, err := theirs.List(selector)
		if namespace != "" {
			want, err = theirs.ByNamespace(namespace).List(selector)
		}
		if err != nil {
			t.Fatal(err)
		}
		found += len(want)
		for n, lister := range listers {
			got, err := NewNamespaced(lister, namespace).List(selector)
			if err != nil || !reflect.DeepEqual(sorted(got), sorted(typed(want))) {
				t.Fatalf("lister %d: %q in %q: %d objects, %v; client-go %d", n, text, namespace, len(got),
					err, len(want))
			}
		}
	}
	if found < 1000 {
		t.Errorf("the selectors found only %d objects", found)
	}
}

func TestListByFields(t *testing.T) {
	all := declared([]*thing{
		newThing("ns0", "ab", map[string]string{"l": "1"}), newThing("ns1", "ab", nil),
		newThing("ns0", "bc", nil), newThing("ns0", "c", nil),
	}, true)
	for _, test := range []struct {
		fields, labels, namespace string
		want                      string
	}{
		{"metadata.name=ab", "", "", "ns0/ab ns1/ab"},
		{"metadata.name=ab", "", "ns1", "ns1/ab"},
		{"metadata.name=ab", "l=1", "", "ns0/ab"},
		{"letters=b,letters=c", "", "", "ns0/bc"},
		{"letters=b,letters=a", "", "ns0", "ns0/ab"},
		{"letters=z", "", "", ""},
		{"", "", "ns1", "ns1/ab"},
	} {
		selector, err := labels.Parse(test.labels)
		if err != nil {
			t.Fatal(err)
		}
		found, err := lister.ListByFields(NewNamespaced(all, test.namespace),
			fields.ParseSelectorOrDie(test.fields), selector)
		var got []string
		for _, o := range sorted(found) {
			got = append(got, o.Namespace+"/"+o.Name)
		}
		if err != nil || strings.Join(got, " ") != test.want {
			t.Errorf("%v: %q, %v", test, got, err)
		}
	}
	for _, selector := range []string{"spec.other=1", "metadata.name!=ab"} {
		if _, err := lister.ListByFields(
			all, fields.ParseSelectorOrDie(selector), labels.Everything(),
		); err == nil {
			t.Errorf("listed by %s", selector)
		}
	}
	_, err := lister.ListByFields(all, fields.ParseSelectorOrDie("spec.other=1"), labels.Everything())
	if missing := (*lister.NoIndexError)(nil); !errors.As(err, &missing) {
		t.Errorf("error %v", err)
	}
	if want := `list by field "spec.other": it must be declared with informer.IndexField; ` +
		"declared are letters, metadata.name"; err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
	for what, selectors := range map[string]struct {
		fields fields.Selector
		labels labels.Selector
	}{"fields is nil": {nil, labels.Everything()}, "labels is nil": {fields.Everything(), nil}} {
		if _, err := lister.ListByFields(all, selectors.fields, selectors.labels); err == nil ||
			!strings.Contains(err.Error(), what) {
			t.Errorf("%s: error %v", what, err)
		}
	}
	if _, err := lister.ListByFields[*thing](nil, fields.Everything(), labels.Everything()); err == nil {
		t.Error("listed no lister by fields")
	}
	byName := fields.OneTermEqualSelector("metadata.name", "ab")
	for name, of := range map[string]cache.GenericLister{
		"generic":        NewGeneric(all.of.(*source).indexer, things),
		"generic, typed": NewGeneric(seenAsTyped{inside: all.of.(*source).indexer}, things),
	} {
		if found, err := lister.ListByFields(of, byName, labels.Everything()); len(found) != 2 ||
			err != nil {
			t.Errorf("%s: %d objects, %v", name, len(found), err)
		}
	}
	views := NewReadOnly(all.of.(*source).indexer, things, func(o *thing) string { return o.Namespace })
	if found, err := lister.ListByFields(views.ByNamespace("ns1"), byName, labels.Everything()); err != nil ||
		!slices.Equal(found, []string{"ns1"}) {
		t.Errorf("views: %q, %v", found, err)
	}
	foreign := New[*thing](cache.NewIndexer(cache.MetaNamespaceKeyFunc, nil), things)
	if _, err := lister.ListByFields(foreign, fields.Everything(), labels.Everything()); err == nil {
		t.Error("listed client-go's indexer by fields")
	}
}

// seenAsTyped has another indexer inside.
type seenAsTyped struct {
	cache.TypedIndexer[*thing]
	inside cache.Indexer
}

func (x seenAsTyped) Untyped() cache.Indexer { return x.inside }

// mirror is an indexer that claims to contain itself.
type mirror struct{ cache.Indexer }

func (m mirror) Untyped() cache.Indexer { return m }

// TestMirror checks that a mirror doesn't cause an endless loop.
func TestMirror(t *testing.T) {
	indexer := mirror{cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{})}
	if _, err := New[*thing](indexer, things).Get("a"); err == nil {
		t.Error("found an object in a mirror")
	}
}
