package deltafifo

import (
	"context"
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
)

// Every benchmark runs ours, typed as informers use it, beside client-go's two
// queues, over the same objects: in order, in batches where there are some,
// beside RealFIFO, and by key beside DeltaFIFO.
//
//	go test -run '^$' -bench . -benchmem -count 5 ./runtime/deltafifo

func benchObjects(n int) []*metav1.ObjectMeta {
	objects := make([]*metav1.ObjectMeta, n)
	for i := range objects {
		objects[i] = &metav1.ObjectMeta{Namespace: fmt.Sprint("namespace-", i%100), Name: fmt.Sprint("name-of-an-object-", i), ResourceVersion: "1"}
	}
	return objects
}

func nameOf(o *metav1.ObjectMeta) cache.ObjectName {
	return cache.ObjectName{Namespace: o.Namespace, Name: o.Name}
}

// known is an empty collection of known objects, which RealFIFO can't do
// without.
func known() cache.Store { return cache.NewStore(cache.MetaNamespaceKeyFunc) }

func clientGoQueues() map[string]func() cache.Queue {
	return map[string]func() cache.Queue{
		"in-order/client-go": func() cache.Queue { return cache.NewRealFIFO(cache.MetaNamespaceKeyFunc, known(), nil) },
		"by-key/client-go": func() cache.Queue {
			return cache.NewDeltaFIFOWithOptions(cache.DeltaFIFOOptions{KnownObjects: known(), EmitDeltaTypeReplaced: true})
		},
	}
}

func ignore(any, bool) error { return nil }

func BenchmarkAddPop(b *testing.B) {
	objects := benchObjects(1000)
	b.Run("in-order/ours", func(b *testing.B) {
		f := New(nameOf)
		i := 0
		for b.Loop() {
			o := objects[i%len(objects)]
			f.Updated(o, o.ResourceVersion)
			if batch, err := f.PopBatch(context.Background()); len(batch) != 1 || err != nil {
				b.Fatal(batch, err)
			}
			i++
		}
	})
	b.Run("by-key/ours", func(b *testing.B) {
		f := New(nameOf)
		i := 0
		for b.Loop() {
			o := objects[i%len(objects)]
			f.Updated(o, o.ResourceVersion)
			if _, deltas, err := f.Pop(context.Background()); len(deltas) != 1 || err != nil {
				b.Fatal(deltas, err)
			}
			i++
		}
	})
	for name, queue := range clientGoQueues() {
		b.Run(name, func(b *testing.B) {
			f := queue()
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
}

// BenchmarkBacklog adds 1,000 deltas and takes them all.
func BenchmarkBacklog(b *testing.B) {
	objects := benchObjects(1000)
	b.Run("in-order/ours", func(b *testing.B) {
		f := New(nameOf)
		for b.Loop() {
			for _, o := range objects {
				f.Updated(o, o.ResourceVersion)
			}
			if batch, err := f.PopBatch(context.Background()); len(batch) != len(objects) || err != nil {
				b.Fatal(len(batch), err)
			}
		}
	})
	b.Run("by-key/ours", func(b *testing.B) {
		f := New(nameOf)
		for b.Loop() {
			for _, o := range objects {
				f.Updated(o, o.ResourceVersion)
			}
			for range objects {
				if _, _, err := f.Pop(context.Background()); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
	for name, queue := range clientGoQueues() {
		b.Run(name, func(b *testing.B) {
			f := queue()
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
}

// BenchmarkReplace replaces 100,000 objects and takes them one by one.
func BenchmarkReplace(b *testing.B) {
	objects := benchObjects(100_000)
	items := func() Items[cache.ObjectName, *metav1.ObjectMeta] {
		items := make(Items[cache.ObjectName, *metav1.ObjectMeta], len(objects))
		for i, o := range objects {
			items[i] = Item[cache.ObjectName, *metav1.ObjectMeta]{Key: nameOf(o), Object: o, Version: o.ResourceVersion}
		}
		return items
	}
	b.Run("in-order/ours", func(b *testing.B) {
		f := New(nameOf)
		for b.Loop() {
			f.Replace(items(), "1")
			batch, err := f.PopBatch(context.Background())
			if err != nil {
				b.Fatal(err)
			}
			n := 0
			batch[0].List.Each(func(cache.ObjectName, *metav1.ObjectMeta, string) { n++ })
			if n != len(objects) {
				b.Fatal(n)
			}
		}
	})
	b.Run("by-key/ours", func(b *testing.B) {
		f := New(nameOf)
		for b.Loop() {
			f.Replace(items(), "1")
			for range objects {
				if _, _, err := f.Pop(context.Background()); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
	for name, queue := range clientGoQueues() {
		b.Run(name, func(b *testing.B) {
			f := queue()
			for b.Loop() {
				list := make([]any, len(objects))
				for i, o := range objects {
					list[i] = o
				}
				if err := f.Replace(list, "1"); err != nil {
					b.Fatal(err)
				}
				for range objects {
					if _, err := f.Pop(ignore); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}
