package informer_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/internal/bubble"
	"github.com/kubewright/kubewright/runtime/gen/informer"
)

const noResync = time.Duration(0)

func TestSameCallsAsClientGo(t *testing.T) {
	relist := func(p *pair) { p.server.expire(); p.recover() }
	for _, test := range []struct {
		name   string
		opts   informer.Options
		script func(p *pair)
		calls  int
	}{
		{name: "an empty list", script: func(p *pair) {
			p.handle(noResync)
			p.start()
		}},
		{name: "a list and changes", calls: 6, script: func(p *pair) {
			p.server.put("a")
			p.server.put("bb")
			p.handle(noResync)
			p.start()
			p.check("the start")
			p.server.put("c")
			p.server.put("a")
			p.server.remove("a")
			p.server.put("a")
		}},
		{name: "nothing before the start", script: func(p *pair) {
			p.server.put("a")
			p.handle(noResync)
		}},
		{name: "a late handler", calls: 5, script: func(p *pair) {
			p.server.put("a")
			p.server.put("bb")
			p.start()
			p.check("the start")
			p.server.put("a")
			p.check("an update")
			p.handle(noResync)
			p.handle(noResync)
			p.check("late registrations")
			p.unhandle(p.handlers[1])
			p.server.put("bb")
		}},
		{name: "a handler that is late but before the sync", calls: 2, script: func(p *pair) {
			p.server.gate = make(chan struct{})
			p.server.put("a")
			p.start()
			synctest.Wait()
			p.handle(noResync)
			p.handle(noResync)
			p.check("late registration")
			close(p.server.gate)
		}},
		{name: "a relist with everything", calls: 8, script: func(p *pair) {
			for _, name := range []string{"a", "bb", "c"} {
				p.server.put(name)
			}
			p.handle(noResync)
			p.start()
			p.check("the start")
			p.server.forget(func() {
				p.server.remove("a")
				p.server.put("bb")
				p.server.put("d")
				p.server.put("e")
			})
			p.recover()
		}},
		{name: "an unchanged relist reaches handlers that never saw a clock", calls: 4,
			script: func(p *pair) {
				p.server.put("a")
				p.handle(noResync)
				p.handle(noResync)
				p.start()
				p.check("the start")
				relist(p)
			}},
		{name: "an unchanged relist after a look at the clock", calls: 4,
			opts: informer.Options{ResyncPeriod: time.Minute}, script: func(p *pair) {
				p.server.put("a")
				p.handle(noResync)
				p.handle(time.Minute)
				p.start()
				p.check("the start")
				bubble.Pass(time.Minute + time.Second)
				p.check("a resync")
				relist(p)
			}},
		{name: "unchanged versions", calls: 2, opts: informer.Options{ResyncPeriod: time.Minute},
			script: func(p *pair) {
				p.handle(noResync)
				p.start()
				p.check("the start")
				obj := &configMap{ObjectMeta: metav1.ObjectMeta{Name: "a"}}
				p.server.raw(watch.Event{Type: watch.Added, Object: obj})
				p.server.raw(watch.Event{Type: watch.Modified, Object: obj.DeepCopy()})
				p.check("an update without a version")
				bubble.Pass(time.Minute + time.Second)
				p.check("a look at the clock")
				p.server.raw(watch.Event{Type: watch.Modified, Object: obj.DeepCopy()})
			}},
		{name: "resyncs with different periods", opts: informer.Options{ResyncPeriod: 3 * time.Second},
			calls: 70, script: func(p *pair) {
				p.server.put("a")
				p.server.put("bb")
				p.handle(-1)
				p.handle(noResync)
				p.handle(time.Millisecond)
				p.handle(10 * time.Second)
				p.start()
				p.check("the start")
				for n := range 12 {
					bubble.Pass(time.Second)
					p.check(fmt.Sprint("second ", n))
				}
				p.handle(2 * time.Second)
				p.handle(noResync)
				p.check("late registrations")
				for n := range 7 {
					bubble.Pass(time.Second)
					p.check(fmt.Sprint("second ", n))
				}
			}},
		{name: "a resync period without a resyncing informer", calls: 1, script: func(p *pair) {
			p.server.put("a")
			p.handle(time.Second)
			p.start()
			bubble.Pass(time.Minute)
		}},
		{name: "a deletion of what was never there", calls: 1, script: func(p *pair) {
			p.handle(noResync)
			p.start()
			p.check("the start")
			p.server.raw(watch.Event{Type: watch.Deleted,
				Object: &configMap{ObjectMeta: metav1.ObjectMeta{Name: "a", ResourceVersion: "7"}}})
		}},
		{name: "an added object that is there, a modified one that isn't", calls: 3, script: func(p *pair) {
			p.server.put("a")
			p.handle(noResync)
			p.start()
			p.check("the start")
			p.server.raw(watch.Event{Type: watch.Added,
				Object: &configMap{ObjectMeta: metav1.ObjectMeta{Namespace: "ns1", Name: "a",
					ResourceVersion: "7"}}})
			p.server.raw(watch.Event{Type: watch.Modified,
				Object: &configMap{ObjectMeta: metav1.ObjectMeta{Name: "b", ResourceVersion: "8"}}})
		}},
		{name: "objects of a wrong type", calls: 1, script: func(p *pair) {
			p.handle(noResync)
			p.start()
			p.check("the start")
			p.server.raw(watch.Event{Type: watch.Added,
				Object: &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "s", ResourceVersion: "7"}}})
			p.server.put("a")
		}},
		{name: "a transform that changes and fails", calls: 4, script: func(p *pair) {
			transform := func(obj any) (any, error) {
				c := obj.(*configMap)
				if c.Name == "bad" {
					return nil, fmt.Errorf("bad")
				}
				c = c.DeepCopy()
				c.Name += "-transformed"
				return c, nil
			}
			for _, i := range []cache.SharedIndexInformer{p.ours, p.theirs} {
				if err := i.SetTransform(transform); err != nil {
					p.t.Fatal(err)
				}
			}
			p.server.put("a")
			p.handle(noResync)
			p.start()
			p.check("the start")
			p.server.put("bad")
			p.server.put("a")
			p.server.remove("a")
			p.server.put("b")
		}},
		{name: "writes from outside", calls: 6, script: func(p *pair) {
			outside := func(name string) {
				obj := &configMap{ObjectMeta: metav1.ObjectMeta{Namespace: "ns1", Name: name,
					ResourceVersion: "0"}}
				for _, i := range []cache.SharedIndexInformer{p.ours, p.theirs} {
					if err := i.GetIndexer().Add(obj); err != nil {
						p.t.Fatal(err)
					}
				}
			}
			outside("a")
			outside("z")
			p.server.put("a")
			p.server.put("b")
			p.handle(noResync)
			p.start()
			p.check("the start")
			outside("c")
			p.check("a write from outside")
			p.handle(noResync)
		}},
		{name: "a cut stream that is resumed", calls: 3, script: func(p *pair) {
			p.server.put("a")
			p.handle(noResync)
			p.start()
			p.check("the start")
			p.server.cut()
			p.server.put("b")
			p.server.remove("a")
			p.recover()
		}},
		{name: "bookmarks", calls: 1, script: func(p *pair) {
			p.server.put("a")
			p.handle(noResync)
			p.start()
			p.check("the start")
			p.server.version += 10
			p.server.bookmark()
		}},
		{name: "after the stop", calls: 1, script: func(p *pair) {
			p.server.put("a")
			p.handle(noResync)
			p.start()
			p.check("the start")
			p.stop()
			p.server.put("b")
			p.handle(noResync)
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPair(t, test.opts)
				test.script(p)
				p.check("the end")
				if p.calls != test.calls {
					t.Errorf("there were %d calls, the scenario is meant to make %d", p.calls, test.calls)
				}
				if p.stop != nil {
					p.stop()
				}
			})
		})
	}
}
