package informer_test

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	kwcache "github.com/kubewright/kubewright/runtime/cache"
	"github.com/kubewright/kubewright/runtime/gen/informer"
)

// feed is a lister-watcher that lists given objects and then delivers events as fast as they are received,
// without allocating.
type feed struct {
	list   *corev1.ConfigMapList
	events chan watch.Event
}

func newFeed(objects int) *feed {
	f := &feed{list: &corev1.ConfigMapList{}, events: make(chan watch.Event, 1024)}
	f.list.ResourceVersion = strconv.Itoa(objects)
	for n := range objects {
		f.list.Items = append(f.list.Items, *sample(n, n+1))
	}
	return f
}

func sample(n, version int) *configMap {
	return &configMap{ObjectMeta: metav1.ObjectMeta{
		Namespace: fmt.Sprint("namespace-", n%10), Name: fmt.Sprint("object-", n),
		ResourceVersion: strconv.Itoa(version),
	}}
}

func (f *feed) IsWatchListSemanticsUnSupported() bool { return true }

func (f *feed) List(metav1.ListOptions) (k8sruntime.Object, error) { return f.list, nil }

func (f *feed) Watch(metav1.ListOptions) (watch.Interface, error) {
	return &feedWatch{events: f.events}, nil
}

// feedWatch is a watch of a feed, after which others may follow.
type feedWatch struct {
	events  chan watch.Event
	stopped atomic.Bool
}

// noEvents is closed.
var noEvents = func() chan watch.Event { c := make(chan watch.Event); close(c); return c }()

func (w *feedWatch) ResultChan() <-chan watch.Event {
	if w.stopped.Load() {
		return noEvents
	}
	return w.events
}

func (w *feedWatch) Stop() { w.stopped.Store(true) }

// ours returns the informer of generated constructors, over a client that passes objects on like a fake.
func (f *feed) ours() cache.SharedIndexInformer {
	return informer.NewShared[*configMap](
		func() informer.ResourceClient[*corev1.ConfigMapList] { return typedFeed{f} },
		informer.Options{Client: f})
}

// typedFeed is the feed as a generated typed client.
type typedFeed struct{ *feed }

func (c typedFeed) List(context.Context, metav1.ListOptions) (*corev1.ConfigMapList, error) {
	return c.list, nil
}

func (c typedFeed) Watch(_ context.Context, opts metav1.ListOptions) (watch.Interface, error) {
	return c.feed.Watch(opts)
}

// facade returns an informer of runtime/cache's NewSharedIndexInformer.
func (f *feed) facade() cache.SharedIndexInformer {
	return kwcache.NewSharedIndexInformerWithOptions(f, &configMap{}, cache.SharedIndexInformerOptions{})
}

func (f *feed) theirs() cache.SharedIndexInformer {
	return cache.NewSharedIndexInformer(f, &configMap{}, 0, nil)
}

var makes = []struct {
	name string
	make func(*feed) cache.SharedIndexInformer
}{
	{"ours", (*feed).ours},
	{"client-go", (*feed).theirs},
}

func run(i cache.SharedIndexInformer) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { i.RunWithContext(ctx); close(done) }()
	return func() { cancel(); <-done }
}

// count returns a handler that is done after that many calls.
func count(calls int, done *sync.WaitGroup) cache.ResourceEventHandler {
	done.Add(1)
	once := func() {
		if calls--; calls == 0 {
			done.Done()
		}
	}
	return cache.ResourceEventHandlerFuncs{
		AddFunc:    func(any) { once() },
		UpdateFunc: func(any, any) { once() },
		DeleteFunc: func(any) { once() },
	}
}

// BenchmarkEvents measures an update from the watch to all handlers, with informers of generated constructors
// and of the facade.
func BenchmarkEvents(b *testing.B) {
	facade := slices.Clone(makes)
	facade[0].make = (*feed).facade
	for _, handlers := range []int{1, 4, 16} {
		for _, m := range makes {
			b.Run(fmt.Sprintf("generated/handlers=%d/%s", handlers, m.name),
				func(b *testing.B) { benchmarkEvents(b, handlers, m.make) })
		}
		for _, m := range facade {
			b.Run(fmt.Sprintf("facade/handlers=%d/%s", handlers, m.name),
				func(b *testing.B) { benchmarkEvents(b, handlers, m.make) })
		}
	}
}

func benchmarkEvents(b *testing.B, handlers int, newInformer func(*feed) cache.SharedIndexInformer) {
	const keys = 1024
	f := newFeed(keys)
	events := make([]watch.Event, 4*keys)
	for n := range events {
		events[n] = watch.Event{Type: watch.Modified, Object: sample(n%keys, keys+1+n)}
	}
	i := newInformer(f)
	var done sync.WaitGroup
	for range handlers {
		if _, err := i.AddEventHandler(count(keys+b.N, &done)); err != nil {
			b.Fatal(err)
		}
	}
	stop := run(i)
	<-i.HasSyncedChecker().Done()
	b.ReportAllocs()
	b.ResetTimer()
	for n := range b.N {
		f.events <- events[n%len(events)]
	}
	done.Wait()
	b.StopTimer()
	stop()
}

// BenchmarkInitialSync measures many objects from memory to all handlers; a third of its cost is the source.
func BenchmarkInitialSync(b *testing.B) {
	for _, c := range []struct{ objects, handlers int }{{100_000, 1}, {100_000, 4}, {1_000_000, 1}} {
		f := newFeed(c.objects)
		for _, m := range makes {
			b.Run(fmt.Sprintf("objects=%d/handlers=%d/%s", c.objects, c.handlers, m.name),
				func(b *testing.B) {
					b.ReportAllocs()
					for b.Loop() {
						i := m.make(f)
						var done sync.WaitGroup
						for range c.handlers {
							if _, err := i.AddEventHandler(count(c.objects, &done)); err != nil {
								b.Fatal(err)
							}
						}
						stop := run(i)
						done.Wait()
						stop()
					}
					b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(c.objects),
						"ns/object")
				})
		}
	}
}

// BenchmarkIdle measures what a synced informer of ten objects with one handler costs when nothing happens.
func BenchmarkIdle(b *testing.B) {
	const informers = 1000
	for _, m := range makes {
		b.Run(m.name, func(b *testing.B) {
			list := newFeed(10).list
			for b.Loop() {
				before := usage()
				var stops []func()
				for range informers {
					i := m.make(&feed{list: list, events: make(chan watch.Event)})
					r, err := i.AddEventHandler(cache.ResourceEventHandlerFuncs{})
					if err != nil {
						b.Fatal(err)
					}
					stops = append(stops, run(i))
					<-r.HasSyncedChecker().Done()
				}
				after := usage()
				b.ReportMetric(float64(after.goroutines-before.goroutines)/informers, "goroutines/informer")
				b.ReportMetric(float64(after.heap-before.heap)/informers, "heap-B/informer")
				b.ReportMetric(float64(after.stacks-before.stacks)/informers, "stack-B/informer")
				for _, stop := range stops {
					stop()
				}
			}
		})
	}
}

type used struct{ goroutines, heap, stacks int }

func usage() used {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return used{runtime.NumGoroutine(), int(m.HeapAlloc), int(m.StackInuse)}
}
