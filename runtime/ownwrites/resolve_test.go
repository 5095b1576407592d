package ownwrites_test

import (
	"context"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/internal/bubble"
	kwcache "github.com/kubewright/kubewright/runtime/cache"
	"github.com/kubewright/kubewright/runtime/informer"
	"github.com/kubewright/kubewright/runtime/listwatch"
)

// overListerWatcher returns an informer of a lister-watcher, whose requests for lists pass transport, if it
// isn't nil. Lists then end after listing returns.
func overListerWatcher(
	l *lagging, transport http.RoundTripper, listing func(),
) cache.SharedIndexInformer {
	lw := cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (apiruntime.Object, error) {
			if transport != nil {
				req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://api/api/v1/configmaps", nil)
				if err != nil {
					return nil, err
				}
				resp, err := transport.RoundTrip(req)
				if err != nil {
					return nil, err
				}
				if err := readAll(resp); err != nil {
					return nil, err
				}
			}
			list, err := l.List(ctx, o)
			listing()
			return list, err
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			return l.Watch(ctx, o)
		},
	}, noWatchLists{})
	return kwcache.NewSharedIndexInformerWithOptions(lw, &corev1.ConfigMap{}, cache.SharedIndexInformerOptions{})
}

type noWatchLists struct{}

func (noWatchLists) IsWatchListSemanticsUnSupported() bool { return true }

// TestListerWatcher checks that keys wait for informers of lister-watchers from their first request on: while
// they list, and afterwards. Those that nothing is known of are logged once.
func TestListerWatcher(t *testing.T) {
	for name, known := range map[string]bool{"requests are seen": true, "a fake": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newServer()
				s.Skip(100_000)
				l, lists := newLagging(s), make(chan struct{})
				var transport http.RoundTripper
				if known {
					transport = listwatch.Wrap(roundTripper(func(*http.Request) (*http.Response, error) {
						return answer(http.StatusOK, &corev1.ConfigMapList{}), nil
					}))
				}
				i := overListerWatcher(l, transport, func() { <-lists })
				r := newRig(t, s, i)
				if err := r.tracker.Add(i); err != nil {
					t.Error("the second time:", err)
				}
				start(t, i)
				synctest.Wait()
				r.create("during the list", "one")
				if got := r.queue.Len() == 0; got != known {
					t.Errorf("during the list: parked is %v", got)
				}
				l.hold()
				close(lists)
				synctest.Wait()
				if !known {
					r.ready()
				}
				r.create("after the list", "two")
				if parked := r.queue.Pending() > r.queue.Len(); parked != known {
					t.Errorf("after the list: parked is %v", parked)
				}
				l.flow()
				bubble.Pass(time.Second)
				if got := len(r.ready()); known && got != 2 || !known && got != 1 {
					t.Errorf("%d keys are ready", got)
				}
				n := strings.Count(r.log.String(), "nobody knows which resource it lists")
				if (n == 0) != known || n > 1 {
					t.Errorf("logged %d times: %s", n, &r.log)
				}
				if err := r.tracker.Add(i); err != nil {
					t.Error("when the resource is known:", err)
				}
				if n := r.tracker.Informers(); n > 1 {
					t.Errorf("there are %d informers", n)
				}
			})
		})
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// TestStoppedInformerIsFreed checks that a tracker doesn't keep the objects of informers that have stopped.
func TestStoppedInformerIsFreed(t *testing.T) {
	s := newServer()
	s.Create(configMap("one"))
	var kept weak.Pointer[corev1.ConfigMap]
	r := newRig(t, s)
	func() {
		i := newInformer(s)
		if err := r.tracker.Add(i); err != nil {
			t.Fatal(err)
		}
		stop := start(t, i)
		if err := informer.WaitForSync(t.Context(), i); err != nil {
			t.Fatal(err)
		}
		obj, _, _ := i.GetStore().GetByKey("shop/one")
		kept = weak.Make(obj.(*corev1.ConfigMap))
		stop()
	}()
	for range 3 {
		runtime.GC()
	}
	if kept.Value() != nil {
		t.Error("the objects of the informer stay in memory")
	}
	runtime.KeepAlive(r)
}
