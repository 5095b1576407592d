package informer_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/internal/bubble"
	gen "github.com/kubewright/kubewright/runtime/gen/informer"
	"github.com/kubewright/kubewright/runtime/informer"
)

// survivePanics lets the process survive the panics of a test.
func survivePanics(t *testing.T) {
	utilruntime.ReallyCrash = false
	t.Cleanup(func() { utilruntime.ReallyCrash = true })
}

// TestPanicInHandler checks that, if the process survives panics, the notification is lost, the next one
// follows after a second, and the handler has synced.
func TestPanicInHandler(t *testing.T) {
	survivePanics(t)
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		s.put("a")
		s.put("b")
		i := s.ours(gen.Options{})
		handler := &recorder{before: func(call string) {
			if strings.Contains(call, "a@") {
				panic(call)
			}
		}}
		r := must[cache.ResourceEventHandlerRegistration](t)(i.AddEventHandler(handler))
		stop := run(i)
		synctest.Wait()
		if calls := handler.take(); len(calls) != 0 || r.HasSynced() {
			t.Errorf("calls %q, synced %v", calls, r.HasSynced())
		}
		bubble.Advance(time.Second)
		if calls := handler.take(); len(calls) != 1 || !r.HasSynced() {
			t.Errorf("a second later: calls %q, synced %v", calls, r.HasSynced())
		}
		s.put("a")
		synctest.Wait()
		s.put("c")
		bubble.Advance(time.Second)
		if calls := handler.take(); len(calls) != 1 {
			t.Errorf("later: calls %q", calls)
		}
		stop()
	})
}

// TestPanicInTheMiddle checks that a handler misses only the object of a list at which it panics.
func TestPanicInTheMiddle(t *testing.T) {
	survivePanics(t)
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		for _, name := range []string{"a", "b", "c", "d", "e"} {
			s.put(name)
		}
		i := s.ours(gen.Options{})
		handler := &recorder{before: func(call string) {
			if strings.Contains(call, "/c@") || strings.Contains(call, "/d@") {
				panic(call)
			}
		}}
		must[cache.ResourceEventHandlerRegistration](t)(i.AddEventHandler(handler))
		stop := run(i)
		bubble.Advance(2 * time.Second)
		stop()
		if calls := handler.take(); !slices.Equal(calls,
			[]string{"initial ns1/a@1", "initial ns1/b@2", "initial ns1/e@5"}) {
			t.Errorf("calls %q", calls)
		}
	})
}

// TestPanicInIndexFunction checks that, if the process survives panics, a change that can't be indexed is
// lost and later ones aren't.
func TestPanicInIndexFunction(t *testing.T) {
	survivePanics(t)
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		i := s.ours(gen.Options{Indexers: cache.Indexers{"picky": func(obj any) ([]string, error) {
			if obj.(*configMap).Name == "bad" {
				return nil, cache.KeyError{Obj: "bad", Err: cache.ErrZeroLengthDeltasObject}
			}
			return []string{"good"}, nil
		}}})
		stop := run(i)
		synctest.Wait()
		s.put("bad")
		synctest.Wait()
		s.put("a")
		bubble.Advance(time.Second)
		if found, err := i.GetIndexer().ByIndex("picky", "good"); err != nil || len(found) != 1 {
			t.Errorf("found %v, %v", found, err)
		}
		stop()
	})
}

// TestPanicAtOneOfMany checks that an index function which panics at one object doesn't affect others of the
// same list or batch.
func TestPanicAtOneOfMany(t *testing.T) {
	survivePanics(t)
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		i := s.ours(gen.Options{Indexers: cache.Indexers{"picky": func(obj any) ([]string, error) {
			if o := obj.(*configMap); o.Name == "bad" || o.Name == "a" && o.ResourceVersion == "9" {
				panic("I don't like it")
			}
			return []string{"good"}, nil
		}}})
		told := &recorder{}
		registration := must[cache.ResourceEventHandlerRegistration](t)(i.AddEventHandler(told))
		check := func(what string, objects, calls int) {
			t.Helper()
			bubble.Advance(10 * time.Second)
			if found, err := i.GetIndexer().ByIndex("picky", "good"); err != nil || len(found) != objects ||
				len(i.GetStore().List()) != objects {
				t.Errorf("%s: %d are stored, %d are found, %v, want %d", what, len(i.GetStore().List()),
					len(found), err, objects)
			}
			if told := told.take(); len(told) != calls {
				t.Errorf("%s: %d calls, want %d: %q", what, len(told), calls, told)
			}
			if !i.HasSynced() || !registration.HasSynced() {
				t.Errorf("%s: synced %t, handler %t", what, i.HasSynced(), registration.HasSynced())
			}
		}
		for _, name := range []string{"a", "bad", "b"} {
			s.put(name)
		}
		stop := run(i)
		check("a list", 2, 2)
		for _, name := range []string{"c", "bad", "d", "a"} {
			s.put(name)
		}
		check("a batch", 4, 3)
		// An object that can't be indexed any more keeps its last state.
		s.put("b")
		s.forget(func() { s.put("a"); s.put("c"); s.remove("d") })
		// The watched changes, then the list: a deletion, a changed object, two unchanged ones.
		check("another list", 3, 1+4)
		if obj, _, _ := i.GetStore().GetByKey("ns1/a"); obj.(*configMap).ResourceVersion != "7" {
			t.Errorf("stored %v", obj)
		}
		stop()
	})
}

// TestContainedPanics checks that the handler continues at once, and that each panic is reported and counted.
func TestContainedPanics(t *testing.T) {
	for _, coalesce := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			s := newServer()
			for _, name := range []string{"a", "bad", "c"} {
				s.put(name)
			}
			i := s.ours(gen.Options{})
			handler := &recorder{before: func(call string) {
				if strings.Contains(call, "bad") {
					panic(call)
				}
			}}
			var reported []string
			utilruntime.ErrorHandlers = []utilruntime.ErrorHandler{
				func(_ context.Context, err error, msg string, keysAndValues ...any) {
					reported = append(reported, msg)
				}}
			defer func() { utilruntime.ErrorHandlers = nil }()
			r := must[cache.ResourceEventHandlerRegistration](t)(informer.AddEventHandler(i, handler,
				informer.HandlerOptions{Name: "fragile", ContainPanics: true, Coalesce: coalesce}))
			start := time.Now()
			stop := run(i)
			<-r.HasSyncedChecker().Done()
			s.put("bad")
			s.put("d")
			synctest.Wait()
			if calls := handler.take(); len(calls) != 3 || time.Since(start) != 0 {
				t.Errorf("after %v: calls %q", time.Since(start), calls)
			}
			if got := i.Status().Handlers[0]; got.Panics != 2 || !got.Panicked.Equal(start) ||
				!got.PanickingSince.Equal(start) || got.Name != "fragile" || len(reported) != 2 {
				t.Errorf("status %+v, reported %q", got, reported)
			}
			stop()
		})
	}
}

// TestPanicEndsRun checks that, if the process doesn't survive panics, the panic of an index function reaches
// the caller of Run, whether or not a handler is busy.
func TestPanicEndsRun(t *testing.T) {
	for name, live := range map[string]bool{"the first list": false, "an event": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newServer()
				s.put("good")
				if !live {
					s.put("bad")
				}
				i := s.ours(
					gen.Options{Indexers: cache.Indexers{"picky": func(obj any) ([]string, error) {
						if obj.(*configMap).Name == "bad" {
							panic("I don't like it")
						}
						return nil, nil
					}}})
				// A handler that doesn't return must not delay the panic.
				busy := make(chan struct{})
				must[cache.ResourceEventHandlerRegistration](t)(
					i.AddEventHandler(&recorder{before: func(string) { <-busy }}))
				ctx, cancel := context.WithCancel(t.Context())
				ended := make(chan any, 1)
				go func() {
					defer func() { ended <- recover() }()
					i.RunWithContext(ctx)
				}()
				if synctest.Wait(); live {
					s.put("bad")
					synctest.Wait()
				}
				select {
				case reason := <-ended:
					if reason != "I don't like it" || !i.IsStopped() {
						t.Errorf("ended with %v, stopped: %t", reason, i.IsStopped())
					}
				default:
					t.Error("it goes on")
				}
				close(busy)
				cancel()
			})
		})
	}
}
