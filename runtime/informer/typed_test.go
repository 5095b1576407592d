package informer_test

import (
	"slices"
	"testing"

	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/runtime/gen/informer"
)

// TestTyped uses our informer and client-go's as typed informers.
func TestTyped(t *testing.T) {
	s := newServer()
	ours := s.ours(informer.Options{})
	if typed := informer.Typed[*configMap](ours); typed != cache.TypedSharedIndexInformer[*configMap](ours) {
		t.Error("a typed informer was wrapped")
	}
	theirs := s.theirs(informer.Options{})
	for name, i := range map[string]cache.TypedSharedIndexInformer[*configMap]{
		"ours": ours, "theirs": informer.Typed[*configMap](theirs),
	} {
		if err := i.AddTypedIndexers(cache.TypedIndexers[*configMap]{
			"name": func(c *configMap) ([]string, error) { return []string{c.Name}, nil },
		}); err != nil {
			t.Fatal(err)
		}
		x := i.GetTypedIndexer()
		if err := x.AddTypedIndexers(cache.TypedIndexers[*configMap]{
			"parity": func(c *configMap) ([]string, error) {
				return []string{c.ResourceVersion[:1], "all"}, nil
			},
		}); err != nil {
			t.Fatal(err)
		}
		one, two := sample(1, 1), sample(2, 2)
		for _, obj := range []any{one, two} {
			if err := i.GetStore().Add(obj); err != nil {
				t.Fatal(err)
			}
		}
		if found, err := x.ByTypedIndex("name", one.Name); err != nil ||
			!slices.Equal(found, []*configMap{one}) {
			t.Errorf("%s: by index: %v, %v", name, found, err)
		}
		if found, err := x.TypedIndex("parity", two); err != nil || len(found) != 2 {
			t.Errorf("%s: by two values: %v, %v", name, found, err)
		}
		if _, err := x.ByTypedIndex("none", ""); err == nil {
			t.Errorf("%s: no error for an index that doesn't exist", name)
		}
		if _, err := i.AddTypedEventHandler(
			typedRecorder{}, cache.HandlerOptions{}, cache.HandlerOptions{},
		); err == nil {
			t.Errorf("%s: two sets of options are accepted", name)
		}
	}
}

// TestNilIndexFunction checks that an index function which would panic at the first object is refused.
func TestNilIndexFunction(t *testing.T) {
	s := newServer()
	i := s.ours(informer.Options{})
	typed := informer.Typed[*configMap](i)
	for name, err := range map[string]error{
		"AddIndexers":      i.AddIndexers(cache.Indexers{"x": nil}),
		"the indexer's":    i.GetIndexer().AddIndexers(cache.Indexers{"x": nil}),
		"AddTypedIndexers": typed.AddTypedIndexers(cache.TypedIndexers[*configMap]{"x": nil}),
		"the typed indexer's": typed.GetTypedIndexer().AddTypedIndexers(
			cache.TypedIndexers[*configMap]{"x": nil}),
	} {
		if err == nil || err.Error() != `the index "x" has no function` {
			t.Errorf("%s: %v", name, err)
		}
	}
	if n := len(i.GetIndexer().GetIndexers()); n != 0 {
		t.Errorf("%d indexes, want none", n)
	}
}
