package indexer_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/runtime/internal/indexer"
	"github.com/kubewright/kubewright/runtime/internal/store"
)

// Every benchmark has rows for the indexer of a generated informer, whose keys are
// [cache.ObjectName], and for that of the facade runtime/cache, whose keys are
// strings, each beside client-go's over the same objects.
//
//	go test -run '^$' -bench . -count 5 ./runtime/internal/indexer

const benchObjects = 100_000

type benched = metav1.PartialObjectMetadata

var benchIndexers = cache.Indexers{
	cache.NamespaceIndex: cache.MetaNamespaceIndexFunc,
	"node": func(obj any) ([]string, error) {
		return []string{obj.(*benched).Labels["node"]}, nil
	},
	"owner": func(obj any) ([]string, error) {
		return []string{obj.(*benched).Labels["owner"]}, nil
	},
}

// makes has the constructors of an indexer without indexes.
var makes = map[string]func() cache.Indexer{
	"generated": func() cache.Indexer {
		return indexer.New(store.New[cache.ObjectName](), indexer.ObjectNames(reflect.TypeFor[*benched]()))
	},
	"facade": func() cache.Indexer {
		return indexer.New(store.New[string](), indexer.Strings(cache.MetaNamespaceKeyFunc))
	},
	"client-go": func() cache.Indexer {
		return cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{})
	},
}

// benchSet returns objects that lie in memory in the given order. Of 100,000, each namespace has 1,000 and
// each node 100.
func benchSet(n, version int, order []int) []*benched {
	objects := make([]*benched, n)
	for _, i := range order {
		objects[i] = &benched{ObjectMeta: metav1.ObjectMeta{
			Namespace:       fmt.Sprint("namespace-", i%100),
			Name:            fmt.Sprint("some-object-with-a-name-", i),
			ResourceVersion: fmt.Sprint(version),
			Labels: map[string]string{"node": fmt.Sprint("node-", i%1000),
				"owner": fmt.Sprint("owner-", i/10)},
		}}
	}
	return objects
}

func filled(b *testing.B, made cache.Indexer, objects []*benched, indexers cache.Indexers) cache.Indexer {
	if err := made.AddIndexers(indexers); err != nil {
		b.Fatal(err)
	}
	for _, o := range objects {
		if err := made.Add(o); err != nil {
			b.Fatal(err)
		}
	}
	return made
}

// pairs runs a benchmark over an indexer of each of ours and of client-go's.
func pairs(b *testing.B, run func(b *testing.B, how string, make func() cache.Indexer)) {
	for _, how := range []string{"generated", "facade"} {
		b.Run(how+"/ours", func(b *testing.B) { run(b, how, makes[how]) })
		b.Run(how+"/client-go", func(b *testing.B) { run(b, how, makes["client-go"]) })
	}
}

func BenchmarkIndexer(b *testing.B) {
	order := rand.New(rand.NewPCG(1, 1)).Perm(benchObjects)
	objects, newer := benchSet(benchObjects, 1, order), benchSet(benchObjects, 2, order)
	keys := make([]string, benchObjects)
	for n, i := range order {
		keys[n] = strings.Clone(objects[i].Namespace + "/" + objects[i].Name)
	}
	for _, c := range []struct {
		name string
		// do does the nth of many operations and reports whether it succeeded.
		do func(x cache.Indexer, n int) bool
	}{
		{"Get", func(x cache.Indexer, n int) bool {
			_, ok, _ := x.Get(objects[order[n%benchObjects]])
			return ok
		}},
		{"GetByKey", func(x cache.Indexer, n int) bool {
			_, ok, _ := x.GetByKey(keys[n%benchObjects])
			return ok
		}},
		{"List", func(x cache.Indexer, _ int) bool { return len(x.List()) == benchObjects }},
		{"ListKeys", func(x cache.Indexer, _ int) bool { return len(x.ListKeys()) == benchObjects }},
		{"ByIndex", func(x cache.Indexer, n int) bool {
			found, err := x.ByIndex("node", objects[n%1000].Labels["node"])
			return err == nil && len(found) == 100
		}},
		{"Update", func(x cache.Indexer, n int) bool {
			set := newer
			if n/benchObjects%2 == 1 {
				set = objects
			}
			return x.Update(set[order[n%benchObjects]]) == nil
		}},
	} {
		b.Run(c.name, func(b *testing.B) {
			pairs(b, func(b *testing.B, _ string, make func() cache.Indexer) {
				x := filled(b, make(), objects, benchIndexers)
				b.ReportAllocs()
				for n := 0; b.Loop(); n++ {
					if !c.do(x, n) {
						b.Fatal("failed")
					}
				}
			})
		})
	}
}

// BenchmarkFill fills an indexer with 10 objects, as most informers of a program do.
func BenchmarkFill(b *testing.B) {
	objects := benchSet(10, 1, []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9})
	pairs(b, func(b *testing.B, _ string, make func() cache.Indexer) {
		b.ReportAllocs()
		for b.Loop() {
			filled(b, make(), objects, nil)
		}
	})
}

// BenchmarkLive reports the live bytes for each object in an indexer, without those of the object itself.
func BenchmarkLive(b *testing.B) {
	for _, c := range []struct {
		objects int
		indexes []string
	}{{10, nil}, {200_000, nil}, {200_000, []string{cache.NamespaceIndex, "node"}},
		{200_000, []string{cache.NamespaceIndex, "owner"}}} {
		objects := benchSet(c.objects, 1, rand.New(rand.NewPCG(1, 1)).Perm(c.objects))
		indexers := cache.Indexers{}
		for _, name := range c.indexes {
			indexers[name] = benchIndexers[name]
		}
		b.Run(fmt.Sprintf("objects=%d/indexes=%s", c.objects, strings.Join(c.indexes, "+")),
			func(b *testing.B) {
				pairs(b, func(b *testing.B, _ string, make func() cache.Indexer) {
					made := slices.Repeat([]cache.Indexer{nil}, max(1, 1000/c.objects))
					for b.Loop() {
						before := live()
						for n := range made {
							made[n] = filled(b, make(), objects, indexers)
						}
						b.ReportMetric(float64(live()-before)/float64(c.objects*len(made)), "B/object")
						clear(made)
					}
				})
			})
	}
}

func live() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
