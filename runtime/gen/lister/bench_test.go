package lister

import (
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/runtime/internal/store"
)

// Every benchmark runs ours over a store and client-go's generic lister, which
// does the work of its typed ones, over an indexer with the same 100,000
// objects.
//
//	go test -run '^$' -bench . -count 5 ./runtime/lister
func benchListers(b *testing.B) (ResourceIndexer[*thing], cache.GenericLister) {
	objects := make([]*thing, 100_000)
	for i := range objects {
		objects[i] = newThing(fmt.Sprint("namespace-", i%100), fmt.Sprint("name-of-an-object-", i),
			map[string]string{
				"app": fmt.Sprint("app-", i%10_000), "tier": fmt.Sprint("tier-", i%3),
				"pod-template-hash": fmt.Sprint("hash-", i%20_000),
			})
	}
	made := indexers(b, objects)
	return New[*thing](made["our store, indexed"],
		things), cache.NewGenericLister(made["client-go's indexer, indexed"], things)
}

// BenchmarkList measures several patterns of lists by a label without an index, since a store keeps summaries
// of labels for later lists.
func BenchmarkList(b *testing.B) {
	ours, clientGo := benchListers(b)
	one, many := []labels.Selector{appSelector(1)}, make([]labels.Selector, 10_000)
	for i := range many {
		many[i] = appSelector(i)
	}
	for _, c := range []struct {
		name      string
		namespace string
		selectors []labels.Selector // used in turn
	}{
		{"everything", "", []labels.Selector{labels.Everything()}},
		{"10-of-100000/same-selector-again", "", one},
		{"10-of-100000/many-selectors", "", many},
		{"namespace-of-1000", "namespace-1", []labels.Selector{labels.Everything()}},
		{"10-of-a-namespace-of-1000/same-selector-again", "namespace-1", one},
	} {
		b.Run(c.name+"/ours", func(b *testing.B) {
			for n := 0; b.Loop(); n++ {
				list, err := NewNamespaced(ours, c.namespace).List(c.selectors[n%len(c.selectors)])
				if err != nil || len(list) == 0 {
					b.Fatal(len(list), err)
				}
			}
		})
		b.Run(c.name+"/client-go", func(b *testing.B) {
			for n := 0; b.Loop(); n++ {
				list, err := clientGo.ByNamespace(c.namespace).List(c.selectors[n%len(c.selectors)])
				if err != nil || len(list) == 0 {
					b.Fatal(len(list), err)
				}
			}
		})
	}
	// All objects are replaced before each list, so no summaries are left.
	b.Run("10-of-100000/first-time/ours", func(b *testing.B) {
		s := ours.of.(*source).store
		for b.Loop() {
			b.StopTimer()
			for _, o := range s.List() {
				put(s, o.(*thing))
			}
			b.StartTimer()
			if list, err := ours.List(one[0]); err != nil || len(list) != 10 {
				b.Fatal(len(list), err)
			}
		}
	})
	b.Run("10-of-100000/first-time/client-go", func(b *testing.B) {
		for b.Loop() {
			if list, err := clientGo.List(one[0]); err != nil || len(list) != 10 {
				b.Fatal(len(list), err)
			}
		}
	})
}

// appSelector returns a selector of 10 of the objects.
func appSelector(i int) labels.Selector {
	return labels.SelectorFromSet(labels.Set{"app": fmt.Sprint("app-", i)})
}

// BenchmarkIndexedLabel lists 10 of 100,000 objects by a label with a declared index.
func BenchmarkIndexedLabel(b *testing.B) {
	ours, clientGo := benchListers(b)
	err := ours.of.(*source).store.AddIndexes(
		map[string]store.IndexFunc{store.LabelIndex("app"): store.ByLabel("app")})
	if err != nil {
		b.Fatal(err)
	}
	for _, namespace := range []string{"", "namespace-1"} {
		for name, selector := range map[string]labels.Selector{
			"equal":        labels.SelectorFromSet(labels.Set{"app": "app-1"}),
			"one-of-three": parse(b, "app in (app-1,app-2,app-3)"),
			"equal-and":    parse(b, "app=app-1,tier!=tier-9"),
		} {
			b.Run(fmt.Sprintf("%s/namespace=%s/ours", name, namespace), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if list, err := NewNamespaced(ours, namespace).List(selector); err != nil ||
						len(list) == 0 {
						b.Fatal(len(list), err)
					}
				}
			})
			b.Run(fmt.Sprintf("%s/namespace=%s/client-go", name, namespace), func(b *testing.B) {
				for b.Loop() {
					if list, err := clientGo.ByNamespace(namespace).List(selector); err != nil ||
						len(list) == 0 {
						b.Fatal(len(list), err)
					}
				}
			})
		}
	}
}

func parse(b testing.TB, selector string) labels.Selector {
	parsed, err := labels.Parse(selector)
	if err != nil {
		b.Fatal(err)
	}
	return parsed
}

func BenchmarkGet(b *testing.B) {
	ours, clientGo := benchListers(b)
	names := make([]string, 100_000)
	for i := range names {
		names[i] = fmt.Sprint("name-of-an-object-", i)
	}
	b.Run("ours", func(b *testing.B) {
		i := 0
		for b.Loop() {
			if _, err := NewNamespaced(ours, "namespace-1").Get(names[i%1000*100+1]); err != nil {
				b.Fatal(err)
			}
			i++
		}
	})
	b.Run("client-go", func(b *testing.B) {
		i := 0
		for b.Loop() {
			if _, err := clientGo.ByNamespace("namespace-1").Get(names[i%1000*100+1]); err != nil {
				b.Fatal(err)
			}
			i++
		}
	})
}
