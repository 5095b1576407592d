package informer_test

import (
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"

	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	gen "github.com/kubewright/kubewright/runtime/gen/informer"
	"github.com/kubewright/kubewright/runtime/informer"
)

// TestCoalescing checks that the changes of an object during a call of the handler are merged into one.
func TestCoalescing(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(s *server)
		want   []string
	}{
		{"updates", func(s *server) { s.put("a"); s.put("b"); s.put("a") },
			[]string{"update ns1/a@1 -> ns1/a@5", "update ns1/b@2 -> ns1/b@4"}},
		{"update, delete", func(s *server) { s.put("a"); s.remove("a") }, []string{"delete ns1/a@4"}},
		{"add, update", func(s *server) { s.put("c"); s.put("c") }, []string{"add ns1/c@4"}},
		{"add, delete", func(s *server) { s.put("c"); s.remove("c") }, nil},
		{"add, delete, add", func(s *server) { s.put("c"); s.remove("c"); s.put("c") },
			[]string{"add ns1/c@5"}},
		{"delete, add", func(s *server) { s.remove("a"); s.put("a") },
			[]string{"delete ns1/a@3", "add ns1/a@4"}},
		{"delete, add, update", func(s *server) { s.remove("a"); s.put("a"); s.put("a") },
			[]string{"delete ns1/a@3", "add ns1/a@5"}},
		{"delete, add, delete", func(s *server) { s.remove("a"); s.put("a"); s.remove("a") },
			[]string{"delete ns1/a@3"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newServer()
				s.put("a")
				s.put("b")
				i := s.ours(gen.Options{})
				handler := &recorder{}
				r := must[cache.ResourceEventHandlerRegistration](t)(informer.AddEventHandler(i, handler,
					informer.HandlerOptions{Coalesce: true}))
				defer run(i)()
				<-r.HasSyncedChecker().Done()
				handler.take()
				gate := make(chan struct{})
				handler.before = func(string) { <-gate }
				s.put("busy") // version 3; the next is 4. It blocks the handler
				s.version--
				synctest.Wait()
				test.change(s)
				synctest.Wait()
				close(gate)
				synctest.Wait()
				if calls := handler.take(); !slices.Equal(calls[1:], test.want) {
					t.Errorf("calls %q, want %q", calls[1:], test.want)
				}
			})
		})
	}
}

// TestCoalescedSync checks that the handler has synced once it has received the remaining objects of the
// initial list, and not before.
func TestCoalescedSync(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		s.put("a")
		s.put("b")
		i := s.ours(gen.Options{})
		gate := make(chan struct{})
		handler := &recorder{before: func(string) { <-gate }}
		r := must[cache.ResourceEventHandlerRegistration](t)(informer.AddEventHandler(i, handler,
			informer.HandlerOptions{Coalesce: true}))
		defer run(i)()
		synctest.Wait()
		s.put("c")
		synctest.Wait()
		gate <- struct{}{}
		synctest.Wait()
		if r.HasSynced() {
			t.Error("synced, and b was not delivered")
		}
		gate <- struct{}{}
		synctest.Wait()
		if !r.HasSynced() {
			t.Error("not synced, and c does not belong to the initial list")
		}
		close(gate)
		synctest.Wait()
		if err := cache.ShutDownEventHandler(i, r); err != nil {
			t.Error(err)
		}
	})
}

// TestCoalescedSyncByDeletion checks that the handler syncs if nothing of the initial list remains.
func TestCoalescedSyncByDeletion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		s.put("a")
		s.put("b")
		i := s.ours(gen.Options{})
		gate := make(chan struct{})
		handler := &recorder{before: func(string) { <-gate }}
		r := must[cache.ResourceEventHandlerRegistration](t)(informer.AddEventHandler(i, handler,
			informer.HandlerOptions{Coalesce: true}))
		defer run(i)()
		synctest.Wait()
		s.remove("b")
		synctest.Wait()
		close(gate)
		synctest.Wait()
		if calls := handler.take(); !r.HasSynced() || len(calls) != 1 {
			t.Errorf("synced %v, calls %q", r.HasSynced(), calls)
		}
	})
}

// TestCoalescedBacklog checks that the backlog counts objects, not their changes.
func TestCoalescedBacklog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const keys, changes = 50, 5000
		s := newServer()
		i := s.ours(gen.Options{})
		gate := make(chan struct{})
		handler := &recorder{before: func(string) { <-gate }}
		r := must[cache.ResourceEventHandlerRegistration](t)(informer.AddEventHandler(i, handler,
			informer.HandlerOptions{Coalesce: true}))
		stop := run(i)
		synctest.Wait()
		s.put("busy")
		synctest.Wait()
		for n := range changes {
			s.put(strconv.Itoa(n % keys))
			if n%1000 == 999 {
				synctest.Wait()
				if backlog := r.(interface{ Backlog() int }).Backlog(); backlog != keys {
					t.Errorf("after %d changes the backlog is %d", n+1, backlog)
				}
			}
		}
		for n := range keys {
			s.remove(strconv.Itoa(n))
		}
		synctest.Wait()
		if backlog := r.(interface{ Backlog() int }).Backlog(); backlog != 0 {
			t.Errorf("the backlog of what came and went is %d", backlog)
		}
		close(gate)
		stop()
	})
}

// TestCoalescedStatus checks that the status tells what the handler was given, not what waits for it.
func TestCoalescedStatus(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		i := s.ours(gen.Options{})
		gate := make(chan struct{})
		handler := &recorder{before: func(string) { <-gate }}
		must[cache.ResourceEventHandlerRegistration](t)(informer.AddEventHandler(i, handler,
			informer.HandlerOptions{Name: "baker", Coalesce: true}))
		stop := run(i)
		expect := func(when string, busy bool, delivered uint64, backlog int) {
			t.Helper()
			synctest.Wait()
			want := informer.HandlerStatus{Name: "baker", Synced: true, Backlog: backlog, Delivered: delivered,
				Busy: busy}
			if got := i.Status().Handlers[0]; got != want {
				t.Errorf("%s: %+v, want %+v", when, got, want)
			}
		}
		expect("at first", false, 0, 0)
		s.put("a")
		expect("in a call", true, 1, 0)
		s.put("b")
		s.put("a")
		s.put("b")
		expect("while others wait", true, 1, 2)
		gate <- struct{}{}
		expect("in the next call", true, 2, 1)
		close(gate)
		expect("after the last", false, 3, 0)
		stop()
	})
}

// BenchmarkBlocked measures the heap that a million updates of 10,000 objects take while handlers are
// blocked.
func BenchmarkBlocked(b *testing.B) {
	for _, coalesce := range []bool{false, true} {
		blocked{keys: 10_000, updates: 1_000_000,
			coalesce: coalesce}.bench(b, fmt.Sprintf("coalesce=%v/", coalesce))
	}
}

// BenchmarkBlockedSingly measures the heap that updates take while handlers are blocked, if each update
// arrives after the previous one was delivered.
func BenchmarkBlockedSingly(b *testing.B) {
	blocked{keys: 1_000, updates: 250_000, singly: true}.bench(b, "")
}

type blocked struct {
	keys, updates    int
	coalesce, singly bool
}

func (k blocked) bench(b *testing.B, name string) {
	for _, handlers := range []int{1, 4} {
		for _, m := range makes {
			b.Run(fmt.Sprintf("%shandlers=%d/%s", name, handlers, m.name), func(b *testing.B) {
				for b.Loop() {
					f := newFeed(k.keys)
					k.measure(b, f, m.make(f), handlers)
				}
			})
		}
	}
}

func (k blocked) measure(b *testing.B, f *feed, i cache.SharedIndexInformer, handlers int) {
	// A further handler, which isn't blocked, shows what has been delivered.
	told := make(chan struct{}, k.updates)
	if _, err := i.AddEventHandler(
		cache.ResourceEventHandlerFuncs{UpdateFunc: func(any, any) { told <- struct{}{} }},
	); err != nil {
		b.Fatal(err)
	}
	gate := make(chan struct{})
	add := i.AddEventHandler
	if _, ours := informer.StatusOf(i); ours {
		add = func(h cache.ResourceEventHandler) (cache.ResourceEventHandlerRegistration, error) {
			return informer.AddEventHandler(i, h, informer.HandlerOptions{Coalesce: k.coalesce})
		}
	}
	for range handlers {
		if _, err := add(cache.ResourceEventHandlerFuncs{AddFunc: func(any) { <-gate }}); err != nil {
			b.Fatal(err)
		}
	}
	stop := run(i)
	<-i.HasSyncedChecker().Done()
	events := make([]watch.Event, 4*k.keys)
	for n := range events {
		events[n] = watch.Event{Type: watch.Modified, Object: sample(n%k.keys, k.keys+1+n)}
	}
	before := usage()
	waiting := 0
	for n := range k.updates {
		f.events <- events[n%len(events)]
		if waiting++; k.singly || n == k.updates-1 {
			for ; waiting > 0; waiting-- {
				<-told
			}
		}
	}
	b.ReportMetric(float64(usage().heap-before.heap)/float64(k.updates), "heap-B/update")
	close(gate)
	stop()
	runtime.KeepAlive(events)
}
