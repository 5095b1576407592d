package cache_test

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientgo "k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/runtime/cache"
)

// These benchmarks compare the facade's DeltaFIFO with client-go's.
//
//	go test -run '^$' -bench DeltaFIFO -benchmem -count 5 ./runtime/cache

var deltaFIFOs = []struct {
	name string
	make func() clientgo.Queue
}{
	{"ours", func() clientgo.Queue {
		return cache.NewDeltaFIFOWithOptions(cache.DeltaFIFOOptions{
			KnownObjects: clientgo.NewStore(cache.MetaNamespaceKeyFunc), EmitDeltaTypeReplaced: true})
	}},
	{"client-go", func() clientgo.Queue {
		return clientgo.NewDeltaFIFOWithOptions(clientgo.DeltaFIFOOptions{
			KnownObjects: clientgo.NewStore(cache.MetaNamespaceKeyFunc), EmitDeltaTypeReplaced: true})
	}},
}

func benchObjects(n int) []any {
	objects := make([]any, n)
	for i := range objects {
		objects[i] = &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
			Namespace: fmt.Sprint("namespace-", i%100), Name: fmt.Sprint("name-of-an-object-", i),
			ResourceVersion: "1"}}
	}
	return objects
}

func popAll(b *testing.B, f clientgo.Queue, n int) {
	for range n {
		if _, err := f.Pop(func(any, bool) error { return nil }); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkDeltaFIFOOne updates one object and pops it.
func BenchmarkDeltaFIFOOne(b *testing.B) {
	objects := benchObjects(1000)
	for _, q := range deltaFIFOs {
		b.Run(q.name, func(b *testing.B) {
			f := q.make()
			i := 0
			for b.Loop() {
				if err := f.Update(objects[i%len(objects)]); err != nil {
					b.Fatal(err)
				}
				popAll(b, f, 1)
				i++
			}
		})
	}
}

// BenchmarkDeltaFIFOBurst updates 200,000 objects of an empty queue, then pops all.
func BenchmarkDeltaFIFOBurst(b *testing.B) {
	objects := benchObjects(200_000)
	for _, q := range deltaFIFOs {
		b.Run(q.name, func(b *testing.B) {
			for b.Loop() {
				f := q.make()
				for _, o := range objects {
					if err := f.Update(o); err != nil {
						b.Fatal(err)
					}
				}
				popAll(b, f, len(objects))
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(objects)), "ns/object")
		})
	}
}

// BenchmarkDeltaFIFOReplace lists 100,000 objects and pops all.
func BenchmarkDeltaFIFOReplace(b *testing.B) {
	objects := benchObjects(100_000)
	for _, q := range deltaFIFOs {
		b.Run(q.name, func(b *testing.B) {
			f := q.make()
			for b.Loop() {
				if err := f.Replace(objects, "1"); err != nil {
					b.Fatal(err)
				}
				popAll(b, f, len(objects))
			}
		})
	}
}
