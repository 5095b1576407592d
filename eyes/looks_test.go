package eyes_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kubewright/kubewright/eyes"
	"github.com/kubewright/kubewright/internal/bubble"
	"github.com/kubewright/kubewright/runtime/informer"
	"github.com/kubewright/kubewright/runtime/queue"
)

// TestLooksAlone checks that eyes look when there was no look for 130 seconds: then the first request finds
// what needs two looks, and when it began. They end with their sources.
func TestLooksAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		never := make(chan struct{})
		r.handle(func() { <-never })
		stop := r.start()
		var looks atomic.Int32
		counted := statusesFunc(func() []informer.Status { looks.Add(1); return nil })
		r.eyes.AddCaches("counted", counted)
		bubble.Pass(200 * time.Second)
		r.server.Create(configMap("a"))
		bubble.Advance(time.Hour)
		r.server.Create(configMap("b"))
		synctest.Wait()
		found := r.eyes.Snapshot().Findings
		if len(found) != 1 || !strings.HasSuffix(found[0].String(), ", since 2000-01-01T00:04:20Z or earlier") ||
			looks.Load() != 30 {
			t.Errorf("%d looks, found %v", looks.Load(), found)
		}
		for range 10 {
			bubble.Advance(2 * time.Minute)
			r.eyes.Snapshot()
		}
		if looks.Load() != 40 {
			t.Errorf("%d looks with one each other minute", looks.Load())
		}
		close(never)
		stop()
		r.queue.ShutDown()
		r.eyes.Remove("counted")
		bubble.Advance(5 * time.Minute)
		r.eyes.AddCaches("counted", counted)
		if bubble.Advance(129 * time.Second); looks.Load() != 40 {
			t.Errorf("%d looks after an end", looks.Load())
		}
		if bubble.Advance(time.Second); looks.Load() != 41 {
			t.Errorf("%d looks after what was added later", looks.Load())
		}
	})
}

// TestComparedLongAgo checks that the command is told to look again if the look that is compared was long
// ago.
func TestComparedLongAgo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		bubble.Advance(time.Hour)
		r.eyes.Snapshot()
		bubble.Advance(time.Minute)
		for _, want := range []string{"false", "true", "true"} {
			w := httptest.NewRecorder()
			r.eyes.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil))
			if got := w.Result().Header.Get("Kubewright-Compared"); got != want {
				t.Errorf("compared: %s, want %s", got, want)
			}
			bubble.Advance(11 * time.Second)
		}
	})
}

// TestSourceThatWaits checks that a source which waits keeps nobody from adding others.
func TestSourceThatWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := eyes.New(eyes.Options{})
		e.AddCaches("first", statusesFunc(func() []informer.Status {
			e.AddCaches("second", statuses{{Name: "b", State: informer.Watching}})
			e.Remove("first")
			return []informer.Status{{Name: "a", State: informer.Watching}}
		}))
		for _, want := range []string{"a", "b"} {
			if s := e.Snapshot(); len(s.Informers) != 1 || s.Informers[0].Name != want {
				t.Errorf("%+v, want %s", s.Informers, want)
			}
		}
	})
}

// TestPanic checks that a source which panics doesn't end the program, even if nobody asks for the look, that
// others are seen, and that it is found, since its first panic in a row.
func TestPanic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var looks atomic.Int32
		e := eyes.New(eyes.Options{})
		e.AddCaches("first", statusesFunc(func() []informer.Status { panic("odd") }))
		e.AddCaches("second", statusesFunc(func() []informer.Status { looks.Add(1); return nil }))
		if bubble.Advance(time.Hour); looks.Load() != 27 {
			t.Errorf("%d looks", looks.Load())
		}
		s := e.Snapshot()
		if len(s.Findings) != 1 || s.Findings[0].Kind != "source panics" || s.Findings[0].Source != "first" ||
			time.Since(s.Findings[0].Since) != time.Hour-130*time.Second {
			t.Errorf("found %v", s.Findings)
		}
		e.AddCaches("first", statuses{{Name: "a", State: informer.Watching}})
		if s := e.Snapshot(); len(s.Findings) > 0 || len(s.Informers) != 1 {
			t.Errorf("after it: %+v, found %v", s.Informers, s.Findings)
		}
	})
}

// TestSourcesEnd checks that what has ended is forgotten.
func TestSourcesEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		stop := r.start()
		if s := r.eyes.Snapshot(); len(s.Informers) != 1 || len(s.Queues) != 1 {
			t.Errorf("%d informers and %d queues", len(s.Informers), len(s.Queues))
		}
		stop()
		r.queue.ShutDown()
		r.eyes.Snapshot()
		if s := r.eyes.Snapshot(); len(s.Informers) != 0 || len(s.Queues) != 0 {
			t.Errorf("%d informers and %d queues have ended, and are shown", len(s.Informers), len(s.Queues))
		}
		r.eyes.AddQueue("more", r.queue)
		r.eyes.Remove("more")
		if s := r.eyes.Snapshot(); len(s.Queues) != 0 {
			t.Error("a queue that was removed is shown")
		}
	})
}

// TestSameName checks that an informer and a queue may have one name, and that only those of their kind take
// their place.
func TestSameName(t *testing.T) {
	e := eyes.New(eyes.Options{})
	defer e.Remove("bakery")
	first, second := queue.New(queue.Config[string]{}), queue.New(queue.Config[string]{})
	defer first.ShutDown()
	defer second.ShutDown()
	second.Add("a")
	e.AddQueue("bakery", first)
	e.AddCaches("bakery", statuses{{Name: "a", State: informer.Watching}})
	e.AddQueue("bakery", second)
	if s := e.Snapshot(); len(s.Informers) != 1 || len(s.Queues) != 1 || s.Queues[0].Ready != 1 {
		t.Errorf("%+v, %+v", s.Informers, s.Queues)
	}
	e.Remove("bakery")
	if s := e.Snapshot(); len(s.Informers)+len(s.Queues) > 0 {
		t.Errorf("after Remove: %+v, %+v", s.Informers, s.Queues)
	}
}
