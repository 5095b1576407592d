package deltafifo

import (
	"context"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
)

// Every benchmark uses the queue as informers do (their sink fills it, their writer pops from it), and
// compares it with the queue of client-go's informers over the same objects.
//
//	go test -run '^$' -bench . -benchmem -count 5 ./runtime/internal/deltafifo

func benchObjects(n int) []any {
	objects := make([]any, n)
	for i := range objects {
		objects[i] = &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
			Namespace: fmt.Sprint("namespace-", i%100), Name: fmt.Sprint("name-of-an-object-", i),
			ResourceVersion: "1"}}
	}
	return objects
}

// nameOf returns the key of an object as informers compute it.
func nameOf(obj any) cache.ObjectName {
	m := obj.(metav1.Object)
	return cache.ObjectName{Namespace: m.GetNamespace(), Name: m.GetName()}
}

func newRealFIFO() *cache.RealFIFO {
	// It requires known objects.
	return cache.NewRealFIFO(cache.MetaNamespaceKeyFunc, cache.NewStore(cache.MetaNamespaceKeyFunc), nil)
}

func ignore(any, bool) error { return nil }

func BenchmarkAddPop(b *testing.B) {
	objects := benchObjects(1000)
	b.Run("ours", func(b *testing.B) {
		f := New[cache.ObjectName]()
		i := 0
		for b.Loop() {
			o := objects[i%len(objects)]
			f.Append(Updated, nameOf(o), o, "1")
			if batch, err := f.PopBatch(context.Background()); len(batch) != 1 || err != nil {
				b.Fatal(batch, err)
			}
			i++
		}
	})
	b.Run("client-go", func(b *testing.B) {
		f := newRealFIFO()
		i := 0
		for b.Loop() {
			if err := f.Update(objects[i%len(objects)]); err != nil {
				b.Fatal(err)
			}
			if _, err := f.Pop(ignore); err != nil {
				b.Fatal(err)
			}
			i++
		}
	})
}

// BenchmarkBacklog adds 1,000 deltas and pops them all.
func BenchmarkBacklog(b *testing.B) {
	objects := benchObjects(1000)
	b.Run("ours", func(b *testing.B) {
		f := New[cache.ObjectName]()
		for b.Loop() {
			for _, o := range objects {
				f.Append(Updated, nameOf(o), o, "1")
			}
			if batch, err := f.PopBatch(context.Background()); len(batch) != len(objects) || err != nil {
				b.Fatal(len(batch), err)
			}
		}
	})
	b.Run("client-go", func(b *testing.B) {
		f := newRealFIFO()
		for b.Loop() {
			for _, o := range objects {
				if err := f.Update(o); err != nil {
					b.Fatal(err)
				}
			}
			for range objects {
				if _, err := f.Pop(ignore); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
}
