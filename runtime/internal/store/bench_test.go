package store

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
)

// Every benchmark runs our store, keyed by name as in generated informers, and
// client-go's indexer over the same objects, one after the other.
//
//	go test -run '^$' -bench . -count 5 ./runtime/internal/store

const benchObjects = 100_000

type benchStore = Store[cache.ObjectName]

// benchNamespaces are strings that objects share, as if they came from a decoder that shares repeated
// strings.
var benchNamespaces = func() (namespaces [100]string) {
	for i := range namespaces {
		namespaces[i] = fmt.Sprintf("namespace-%d", i)
	}
	return namespaces
}()

// benchObject has values for three indexes: by namespace (1,000 objects each),
// node (100 each) and owner (10 each).
func benchObject(i, version int) *metav1.ObjectMeta {
	return &metav1.ObjectMeta{
		Namespace:       benchNamespaces[i%100],
		Name:            fmt.Sprintf("some-object-with-a-name-%d", i),
		ResourceVersion: fmt.Sprint(version),
		Labels: map[string]string{"node": fmt.Sprintf("node-%d", i%1000),
			"owner": fmt.Sprintf("owner-%d", i/10)},
	}
}

var benchValues = map[string]func(*metav1.ObjectMeta) string{
	cache.NamespaceIndex: func(o *metav1.ObjectMeta) string { return o.Namespace },
	"node":               func(o *metav1.ObjectMeta) string { return o.Labels["node"] },
	"owner":              func(o *metav1.ObjectMeta) string { return o.Labels["owner"] },
}

func benchNew(indexes ...string) *benchStore {
	functions := map[string]IndexFunc{}
	for _, name := range indexes {
		value := benchValues[name]
		functions[name] = func(o any) []string { return []string{value(o.(*metav1.ObjectMeta))} }
	}
	return newIndexed[cache.ObjectName](functions)
}

func benchNewClientGo(indexes ...string) cache.Indexer {
	indexers := cache.Indexers{}
	for _, name := range indexes {
		value := benchValues[name]
		indexers[name] = func(o any) ([]string, error) { return []string{value(o.(*metav1.ObjectMeta))}, nil }
	}
	return cache.NewIndexer(cache.MetaNamespaceKeyFunc, indexers)
}

func benchKey(o *metav1.ObjectMeta) cache.ObjectName {
	return cache.ObjectName{Namespace: o.Namespace, Name: o.Name}
}

func benchPut(s *benchStore, o *metav1.ObjectMeta) { s.Set(benchKey(o), o, o.ResourceVersion) }

func benchFill(objects []*metav1.ObjectMeta, s *benchStore, c cache.Indexer) {
	for _, o := range objects {
		if s != nil {
			benchPut(s, o)
		}
		if c != nil {
			if err := c.Add(o); err != nil {
				panic(err)
			}
		}
	}
}

// benchObjectsOf returns objects as they are in a store once all were updated: in random order in memory.
func benchObjectsOf(version int) []*metav1.ObjectMeta {
	objects := make([]*metav1.ObjectMeta, benchObjects)
	for _, i := range rand.New(rand.NewPCG(1, 1)).Perm(benchObjects) {
		objects[i] = benchObject(i, version)
	}
	return objects
}

// benchListed returns objects as they are in a store after a list: side by side in memory.
func benchListed() []*metav1.ObjectMeta {
	objects := make([]*metav1.ObjectMeta, benchObjects)
	for i := range objects {
		objects[i] = benchObject(i, 1)
	}
	return objects
}

var threeIndexes = []string{cache.NamespaceIndex, "node", "owner"}

// BenchmarkUpdate replaces objects in random order by newer ones, which are side by side in memory, as a
// decoder makes them.
func BenchmarkUpdate(b *testing.B) {
	order := rand.New(rand.NewPCG(2, 2)).Perm(benchObjects)
	var sets [2][]*metav1.ObjectMeta
	for version := range sets {
		for _, i := range order {
			sets[version] = append(sets[version], benchObject(i, version))
		}
	}
	update := func(b *testing.B, put func(*metav1.ObjectMeta)) {
		i := benchObjects
		for b.Loop() {
			put(sets[i/benchObjects%2][i%benchObjects])
			i++
		}
	}
	for _, indexes := range [][]string{nil, threeIndexes[:1], threeIndexes} {
		b.Run(fmt.Sprintf("indexes=%d/ours", len(indexes)), func(b *testing.B) {
			s := benchNew(indexes...)
			benchFill(benchShuffled(sets[0]), s, nil)
			update(b, func(o *metav1.ObjectMeta) { benchPut(s, o) })
		})
		b.Run(fmt.Sprintf("indexes=%d/client-go", len(indexes)), func(b *testing.B) {
			c := benchNewClientGo(indexes...)
			benchFill(benchShuffled(sets[0]), nil, c)
			update(b, func(o *metav1.ObjectMeta) { _ = c.Update(o) })
		})
	}
}

func benchShuffled(objects []*metav1.ObjectMeta) []*metav1.ObjectMeta {
	shuffled := slices.Clone(objects)
	rand.New(rand.NewPCG(4, 4)).Shuffle(len(shuffled),
		func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
	return shuffled
}

// BenchmarkGet looks objects up by keys as a controller has them: strings of their own. Namespaces and names
// have 41 bytes together, those with long names 58, and longer ones 72, which is more than stores copy. The
// next key is read from the object that was found, so that no look-up overlaps the previous one, as in a
// controller, which uses the object. The loops do nothing else, because processors overlap work of few
// instructions.
func BenchmarkGet(b *testing.B) {
	for _, lengths := range [][2]string{
		{"", ""}, {"long-names/", "-5d4f8b6c7d-x2x4z"},
		{"longer-names/", "-of-a-deployment-5d4f8b6c7d-x2x4z"},
	} {
		prefix := lengths[0]
		objects := benchObjectsOf(1)
		for _, o := range objects {
			o.Name += lengths[1]
		}
		names, keys := make([]cache.ObjectName, benchObjects), make([]string, benchObjects)
		for i, at := range rand.New(rand.NewPCG(2, 2)).Perm(benchObjects) {
			o := objects[at]
			o.Generation = int64((i + 1) % benchObjects)
			names[i] = cache.ObjectName{Namespace: strings.Clone(o.Namespace), Name: strings.Clone(o.Name)}
			keys[i] = o.Namespace + "/" + o.Name
		}
		s, c := benchNew(threeIndexes...), benchNewClientGo(threeIndexes...)
		benchFill(objects, s, c)
		b.Run(prefix+"ours", func(b *testing.B) {
			for i := 0; b.Loop(); {
				if _, ok := s.Get(names[i]); !ok {
					b.Fatal("missing")
				}
				if i++; i == benchObjects {
					i = 0
				}
			}
		})
		b.Run(prefix+"client-go", func(b *testing.B) {
			for i := 0; b.Loop(); {
				if _, ok, _ := c.GetByKey(keys[i]); !ok {
					b.Fatal("missing")
				}
				if i++; i == benchObjects {
					i = 0
				}
			}
		})
		b.Run(prefix+"read/ours", func(b *testing.B) {
			for i := 0; b.Loop(); {
				o, _ := s.Get(names[i])
				i = int(o.(*metav1.ObjectMeta).Generation)
			}
		})
		b.Run(prefix+"read/client-go", func(b *testing.B) {
			for i := 0; b.Loop(); {
				o, _, _ := c.GetByKey(keys[i])
				i = int(o.(*metav1.ObjectMeta).Generation)
			}
		})
	}
}

func BenchmarkByIndex(b *testing.B) {
	objects := benchObjectsOf(1)
	s, c := benchNew(threeIndexes...), benchNewClientGo(threeIndexes...)
	benchFill(objects, s, c)
	for _, x := range []struct {
		name, prefix string
		values       int
	}{{cache.NamespaceIndex, "namespace", 100}, {"node", "node", 1000}, {"owner", "owner", 10_000}} {
		values := make([]string, x.values)
		for i := range values {
			values[i] = fmt.Sprintf("%s-%d", x.prefix, i)
		}
		hits := benchObjects / x.values
		b.Run(fmt.Sprintf("hits=%d/ours", hits), func(b *testing.B) {
			i := 0
			for b.Loop() {
				if found, _ := s.ByIndex(x.name, values[i%len(values)]); len(found) != hits {
					b.Fatal("missing")
				}
				i++
			}
		})
		b.Run(fmt.Sprintf("hits=%d/client-go", hits), func(b *testing.B) {
			i := 0
			for b.Loop() {
				if found, _ := c.ByIndex(x.name, values[i%len(values)]); len(found) != hits {
					b.Fatal("missing")
				}
				i++
			}
		})
	}
}

// BenchmarkReplace replaces all objects by newer ones.
func BenchmarkReplace(b *testing.B) {
	objects := benchObjectsOf(1)
	b.Run("ours", func(b *testing.B) {
		s := benchNew(threeIndexes...)
		for b.Loop() {
			r := s.Begin()
			for _, o := range objects {
				r.Set(benchKey(o), o, o.ResourceVersion)
			}
			for change := range r.Commit("1").All() {
				if change.Type == Deleted {
					b.Fatal(change)
				}
			}
		}
	})
	b.Run("client-go", func(b *testing.B) {
		c := benchNewClientGo(threeIndexes...)
		list := make([]any, len(objects))
		for i, o := range objects {
			list[i] = o
		}
		for b.Loop() {
			if err := c.Replace(list, "1"); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkMemory reports the bytes that a store with three indexes needs beside the objects, for our store
// and for client-go's, whose keys are strings of its own.
func BenchmarkMemory(b *testing.B) {
	objects := benchObjectsOf(1)
	live := func() uint64 {
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	measure := func(b *testing.B, fill func() any) {
		for b.Loop() {
			before := live()
			filled := fill()
			b.ReportMetric(float64(live()-before)/benchObjects, "B/object")
			runtime.KeepAlive(filled)
		}
	}
	for _, indexes := range [][]string{nil, threeIndexes} {
		b.Run(fmt.Sprintf("indexes=%d/ours", len(indexes)), func(b *testing.B) {
			measure(b, func() any { s := benchNew(indexes...); benchFill(objects, s, nil); return s })
		})
		b.Run(fmt.Sprintf("indexes=%d/client-go", len(indexes)), func(b *testing.B) {
			measure(b, func() any { c := benchNewClientGo(indexes...); benchFill(objects, nil, c); return c })
		})
	}
}
