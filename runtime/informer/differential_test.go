package informer_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/runtime/informer"
)

// pair is one of our informers and one of client-go's over one server, with
// equal handlers. After each step both sides' handlers must have been called
// alike.
type pair struct {
	t      *testing.T
	server *server
	ours   *informer.TypedShared[*configMap]
	theirs cache.SharedIndexInformer
	// handlers by number; a removed one stays, to see that it gets nothing.
	handlers []*handlerPair
	// calls counts what handlers were told.
	calls int
	stop  func()
}

type handlerPair struct {
	number             int
	ours, theirs       *recorder
	oursReg, theirsReg cache.ResourceEventHandlerRegistration
}

func newPair(t *testing.T, opts informer.Options) *pair {
	s := newServer()
	return &pair{t: t, server: s, ours: s.ours(opts), theirs: s.theirs(opts)}
}

func (p *pair) start() {
	ctx, cancel := context.WithCancel(p.t.Context())
	done := make(chan struct{}, 2)
	go func() { p.ours.RunWithContext(ctx); done <- struct{}{} }()
	go func() { p.theirs.RunWithContext(ctx); done <- struct{}{} }()
	p.stop = func() { cancel(); <-done; <-done; p.stop = nil }
}

// handle registers a handler; a negative period asks for the default. Every
// other one of ours is typed.
func (p *pair) handle(resync time.Duration) *handlerPair {
	p.t.Helper()
	h := &handlerPair{number: len(p.handlers), ours: &recorder{}, theirs: &recorder{}}
	var options cache.HandlerOptions
	if resync >= 0 {
		options.ResyncPeriod = &resync
	}
	var err, theirErr error
	if h.number%2 == 0 {
		h.oursReg, err = p.ours.AddEventHandlerWithOptions(h.ours, options)
	} else {
		h.oursReg, err = p.ours.AddTypedEventHandler(typedRecorder{h.ours}, options)
	}
	h.theirsReg, theirErr = p.theirs.AddEventHandlerWithOptions(h.theirs, options)
	if (err == nil) != (theirErr == nil) {
		p.t.Fatalf("adding a handler: ours says %v, theirs %v", err, theirErr)
	}
	p.handlers = append(p.handlers, h)
	return h
}

func (p *pair) unhandle(h *handlerPair) {
	p.t.Helper()
	if err := p.ours.RemoveEventHandler(h.oursReg); err != nil {
		p.t.Fatal(err)
	}
	if err := p.theirs.RemoveEventHandler(h.theirsReg); err != nil {
		p.t.Fatal(err)
	}
}

// check waits until nothing happens any more and compares.
func (p *pair) check(step string) {
	p.t.Helper()
	synctest.Wait()
	for _, h := range p.handlers {
		ours, theirs := inOrder(h.ours.take()), inOrder(h.theirs.take())
		p.calls += len(theirs)
		if !slices.Equal(ours, theirs) {
			p.t.Fatalf("after %s, handler %d:\nours   %q\ntheirs %q", step, h.number, ours, theirs)
		}
		if h.oursReg != nil && h.oursReg.HasSynced() != h.theirsReg.HasSynced() {
			p.t.Fatalf("after %s, handler %d has synced: ours %v, theirs %v", step, h.number, h.oursReg.HasSynced(), h.theirsReg.HasSynced())
		}
	}
	if p.ours.HasSynced() != p.theirs.HasSynced() || p.ours.IsStopped() != p.theirs.IsStopped() {
		p.t.Fatalf("after %s: synced %v and %v, stopped %v and %v", step,
			p.ours.HasSynced(), p.theirs.HasSynced(), p.ours.IsStopped(), p.theirs.IsStopped())
	}
	if ours, theirs := p.ours.LastSyncResourceVersion(), p.theirs.LastSyncResourceVersion(); ours != theirs {
		p.t.Fatalf("after %s: last version %q and %q", step, ours, theirs)
	}
	ourKeys, theirKeys := p.ours.GetStore().ListKeys(), p.theirs.GetStore().ListKeys()
	slices.Sort(ourKeys)
	slices.Sort(theirKeys)
	if !slices.Equal(ourKeys, theirKeys) {
		p.t.Fatalf("after %s: store has %q, theirs %q", step, ourKeys, theirKeys)
	}
	// An object without a version makes client-go's store forget its own.
	if ours, theirs := p.ours.GetStore().LastStoreSyncResourceVersion(), p.theirs.GetStore().LastStoreSyncResourceVersion(); ours != theirs && theirs != "" {
		p.t.Fatalf("after %s: the store's version is %q, theirs %q", step, ours, theirs)
	}
}

const noResync = time.Duration(0)

const (
	// longEnough is longer than the first back-off of a reflector can be.
	longEnough = 5 * time.Second
	// longest is longer than any back-off can be.
	longest = 61 * time.Second
)

func TestSameCallsAsClientGo(t *testing.T) {
	relist := func(p *pair) { p.server.expire(); time.Sleep(longEnough) }
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
			time.Sleep(longEnough)
		}},
		{name: "an unchanged relist reaches handlers that never saw a clock", calls: 4, script: func(p *pair) {
			p.server.put("a")
			p.handle(noResync)
			p.handle(noResync)
			p.start()
			p.check("the start")
			relist(p)
		}},
		{name: "an unchanged relist after a look at the clock", calls: 4, opts: informer.Options{ResyncPeriod: time.Minute}, script: func(p *pair) {
			p.server.put("a")
			p.handle(noResync)
			p.handle(time.Minute)
			p.start()
			p.check("the start")
			time.Sleep(time.Minute + time.Second)
			p.check("a resync")
			relist(p)
		}},
		{name: "unchanged versions", calls: 2, opts: informer.Options{ResyncPeriod: time.Minute}, script: func(p *pair) {
			p.handle(noResync)
			p.start()
			p.check("the start")
			obj := &configMap{ObjectMeta: metav1.ObjectMeta{Name: "a"}}
			p.server.raw(watch.Event{Type: watch.Added, Object: obj})
			p.server.raw(watch.Event{Type: watch.Modified, Object: obj.DeepCopy()})
			p.check("an update without a version")
			time.Sleep(time.Minute + time.Second)
			p.check("a look at the clock")
			p.server.raw(watch.Event{Type: watch.Modified, Object: obj.DeepCopy()})
		}},
		{name: "resyncs with different periods", opts: informer.Options{ResyncPeriod: 3 * time.Second}, calls: 70, script: func(p *pair) {
			p.server.put("a")
			p.server.put("bb")
			p.handle(-1)
			p.handle(noResync)
			p.handle(time.Millisecond)
			p.handle(10 * time.Second)
			p.start()
			p.check("the start")
			for n := range 12 {
				time.Sleep(time.Second)
				p.check(fmt.Sprint("second ", n))
			}
			p.handle(2 * time.Second)
			p.handle(noResync)
			p.check("late registrations")
			for n := range 7 {
				time.Sleep(time.Second)
				p.check(fmt.Sprint("second ", n))
			}
		}},
		{name: "a resync period without a resyncing informer", calls: 1, script: func(p *pair) {
			p.server.put("a")
			p.handle(time.Second)
			p.start()
			time.Sleep(time.Minute)
		}},
		{name: "a deletion of what was never there", calls: 1, script: func(p *pair) {
			p.handle(noResync)
			p.start()
			p.check("the start")
			p.server.raw(watch.Event{Type: watch.Deleted, Object: &configMap{ObjectMeta: metav1.ObjectMeta{Name: "a", ResourceVersion: "7"}}})
		}},
		{name: "an added object that is there, a modified one that isn't", calls: 3, script: func(p *pair) {
			p.server.put("a")
			p.handle(noResync)
			p.start()
			p.check("the start")
			p.server.raw(watch.Event{Type: watch.Added, Object: &configMap{ObjectMeta: metav1.ObjectMeta{Namespace: "ns1", Name: "a", ResourceVersion: "7"}}})
			p.server.raw(watch.Event{Type: watch.Modified, Object: &configMap{ObjectMeta: metav1.ObjectMeta{Name: "b", ResourceVersion: "8"}}})
		}},
		{name: "objects of a wrong type", calls: 1, script: func(p *pair) {
			p.handle(noResync)
			p.start()
			p.check("the start")
			p.server.raw(watch.Event{Type: watch.Added, Object: &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "s", ResourceVersion: "7"}}})
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
				obj := &configMap{ObjectMeta: metav1.ObjectMeta{Namespace: "ns1", Name: name, ResourceVersion: "0"}}
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
			time.Sleep(longEnough)
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

func TestSameCallsAsClientGoAtRandom(t *testing.T) {
	for seed := range uint64(30) {
		t.Run(fmt.Sprint("seed", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { randomPair(t, rand.New(rand.NewPCG(seed, 1))) })
		})
	}
}

// randomPair walks at random. Relists and resyncs are not in one walk: after a
// relist the two informers count their periods from different, random times.
func randomPair(t *testing.T, r *rand.Rand) {
	resyncs := r.IntN(2) == 0
	var opts informer.Options
	period := func() time.Duration { return noResync }
	if resyncs {
		opts.ResyncPeriod = time.Duration(r.IntN(4)) * time.Second
		period = func() time.Duration { return time.Duration(r.IntN(6)-1) * time.Second }
	}
	p := newPair(t, opts)
	name := func() string { return "object-"[:1+r.IntN(3)] + fmt.Sprint(r.IntN(8)) }
	change := func() {
		for range 1 + r.IntN(4) {
			if r.IntN(3) == 0 {
				p.server.remove(name())
			} else {
				p.server.put(name())
			}
		}
	}
	for range r.IntN(3) {
		p.handle(period())
	}
	change()
	p.start()
	p.check("the start")
	for range 60 {
		step := ""
		switch n := r.IntN(12); {
		case n < 5:
			step = "changes"
			change()
		case n == 5:
			step = "a registration"
			p.handle(period())
		case n == 6 && len(p.handlers) > 0:
			step = "a removal"
			p.unhandle(p.handlers[r.IntN(len(p.handlers))])
		case n == 7:
			step = "a bookmark"
			p.server.bookmark()
		case n == 8 && !resyncs:
			step = "a cut"
			p.server.cut()
			change()
			time.Sleep(longest)
		case n == 9 && !resyncs:
			step = "a relist"
			p.server.forget(change)
			time.Sleep(longest)
		case n == 10 && !resyncs:
			step = "an expiry"
			p.server.expire()
			change()
			time.Sleep(longest)
		default:
			step = "a second"
			time.Sleep(time.Second)
		}
		p.check(step)
	}
	if p.calls == 0 {
		t.Error("no handler was called")
	}
	p.stop()
	p.check("the stop")
}
