package eyes_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kubewright/kubewright/eyes"
	"github.com/kubewright/kubewright/internal/bubble"
	"github.com/kubewright/kubewright/runtime/informer"
)

// TestLooksAlone checks that eyes look once a minute: then the first request finds what needs two looks, and
// when it began. They end with their sources.
func TestLooksAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		never := make(chan struct{})
		r.handle(func() { <-never })
		stop := r.start()
		looks := 0
		r.eyes.AddCaches("counted", statusesFunc(func() []informer.Status { looks++; return nil }))
		bubble.Pass(150 * time.Second)
		r.server.Create(configMap("a"))
		bubble.Advance(time.Hour)
		r.server.Create(configMap("b"))
		synctest.Wait()
		found := r.eyes.Snapshot().Findings
		if len(found) != 1 || !strings.HasSuffix(found[0].String(), ", since 2000-01-01T00:03:00Z or earlier") ||
			looks != 63 {
			t.Errorf("%d looks, found %v", looks, found)
		}
		close(never)
		stop()
		r.queue.ShutDown()
		r.eyes.Remove("counted")
		bubble.Advance(2 * time.Minute)
		r.eyes.AddCaches("counted", statusesFunc(func() []informer.Status { looks++; return nil }))
		if bubble.Advance(time.Minute); looks != 64 {
			t.Errorf("%d looks after an end", looks)
		}
	})
}

// TestPanicAlone checks that a source which panics doesn't end the program if nobody asks for the look.
func TestPanicAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		looks := 0
		e := eyes.New(eyes.Options{})
		e.AddCaches("shop", statusesFunc(func() []informer.Status { looks++; panic("odd") }))
		if bubble.Advance(time.Hour); looks != 1 {
			t.Errorf("%d looks", looks)
		}
		defer func() {
			if reason := recover(); reason != "odd" {
				t.Errorf("a look panics with %v", reason)
			}
		}()
		e.Snapshot()
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
