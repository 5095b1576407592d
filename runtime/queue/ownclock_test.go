package queue_test

import (
	"testing"
	"time"

	"go.uber.org/goleak"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/kubewright/kubewright/runtime/queue"
)

// TestNothingIsLeftAfterShutDown checks that a queue with a clock of its own, which nobody steps, keeps
// neither a goroutine nor a timer after ShutDown, and that its gauges are 0 once nothing is in process.
// client-go's queues keep none either, except after ShutDownWithDrain: their loop sees only at the clock's
// next tick that the queue was drained.
func TestNothingIsLeftAfterShutDown(t *testing.T) {
	type subject struct {
		workqueue.TypedDelayingInterface[string]
		name string
		g    *gauges
	}
	ends := map[string]func(s subject, left func(when string)){
		"unused":  func(s subject, _ func(string)) { s.ShutDown() },
		"delayed": func(s subject, _ func(string)) { s.AddAfter("a", time.Minute); s.ShutDown() },
		"processed": func(s subject, _ func(string)) {
			s.Add("a")
			s.Get()
			s.Done("a")
			s.ShutDown()
		},
		"in process": func(s subject, left func(string)) {
			s.Add("a")
			s.Get()
			s.AddAfter("a", time.Minute)
			s.ShutDown()
			if s.name == "AfterFunc" || s.name == "client-go" {
				left("while an item is in process")
			}
			s.Done("a")
		},
		"ready": func(s subject, _ func(string)) {
			s.Add("a")
			s.Add("b")
			s.Get()
			s.ShutDown()
			s.Done("a")
			s.Get()
			s.Done("b")
		},
		"drained": func(s subject, _ func(string)) {
			s.Add("a")
			s.Get()
			go s.Done("a")
			s.ShutDownWithDrain()
		},
	}
	for name, end := range ends {
		for _, kind := range []string{"AfterFunc", "timers", "client-go"} {
			if kind == "client-go" && name == "drained" {
				continue
			}
			t.Run(name+"/"+kind, func(t *testing.T) {
				before := goleak.IgnoreCurrent()
				fake := clocktesting.NewFakeClock(time.Now())
				s := subject{name: kind, g: newGauges()}
				switch kind {
				case "AfterFunc":
					s.TypedDelayingInterface = queue.New(queue.Config[string]{Clock: fake, Metrics: s.g.metrics()})
				case "timers":
					s.TypedDelayingInterface = queue.New(
						queue.Config[string]{Clock: struct{ clock.Clock }{fake}, Metrics: s.g.metrics()})
				case "client-go":
					s.TypedDelayingInterface = workqueue.NewTypedDelayingQueueWithConfig(
						workqueue.TypedDelayingQueueConfig[string]{Clock: fake})
				}
				left := func(when string) {
					if err := goleak.Find(before); err != nil {
						t.Errorf("%s: %v", when, err)
					}
				}
				end(s, left)
				left("after the end")
				if kind == "client-go" {
					return
				}
				if fake.HasWaiters() {
					t.Error("a timer is set after the end")
				}
				for _, values := range [][]float64{s.g.unfinished, s.g.longestRunning} {
					if len(values) > 0 && values[len(values)-1] != 0 {
						t.Errorf("a gauge is %v after the end", values)
					}
				}
			})
		}
	}
}

// TestGaugesGoOnAfterShutDown checks that the gauges of an item that is still in process after ShutDown grow,
// with both kinds of clocks.
func TestGaugesGoOnAfterShutDown(t *testing.T) {
	for name, own := range map[string]func(*clocktesting.FakeClock) clock.Clock{
		"AfterFunc": func(c *clocktesting.FakeClock) clock.Clock { return c },
		"timers":    func(c *clocktesting.FakeClock) clock.Clock { return struct{ clock.Clock }{c} },
	} {
		t.Run(name, func(t *testing.T) {
			fake, ticked := clocktesting.NewFakeClock(time.Now()), make(chan float64)
			metrics := newGauges().metrics()
			metrics.LongestRunning = metric{add: func(v float64) { ticked <- v }, g: newGauges()}
			q := queue.New(queue.Config[string]{Clock: own(fake), Metrics: metrics})
			q.Add("a")
			q.Get()
			q.ShutDown()
			for _, want := range []float64{0.5, 1, 1.5} {
				fake.Step(500 * time.Millisecond)
				if got := <-ticked; got != want {
					t.Errorf("the longest running is %v, want %v", got, want)
				}
				_ = q.Len() // The next timer is set with the lock that Len takes.
			}
			go q.Done("a")
			if got := <-ticked; got != 0 {
				t.Errorf("the longest running is %v after the end", got)
			}
		})
	}
}
