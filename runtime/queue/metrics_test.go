package queue_test

import (
	"maps"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/util/workqueue"

	"github.com/kubewright/kubewright/internal/bubble"
	"github.com/kubewright/kubewright/runtime/queue"
)

// gauges records what the queue reports.
type gauges struct {
	mu                         sync.Mutex
	depth, adds, retries       float64
	parked, late               float64
	parkedDuration             []float64
	latency, work              []float64
	unfinished, longestRunning []float64
}

func newGauges() *gauges { return &gauges{} }

func (g *gauges) metrics() *queue.Metrics {
	return &queue.Metrics{
		Depth:          metric{add: func(v float64) { g.depth += v }, g: g},
		Adds:           metric{add: func(v float64) { g.adds += v }, g: g},
		Retries:        metric{add: func(v float64) { g.retries += v }, g: g},
		Latency:        metric{add: func(v float64) { g.latency = append(g.latency, v) }, g: g},
		WorkDuration:   metric{add: func(v float64) { g.work = append(g.work, v) }, g: g},
		UnfinishedWork: metric{add: func(v float64) { g.unfinished = append(g.unfinished, v) }, g: g},
		Parked:         metric{add: func(v float64) { g.parked += v }, g: g},
		LongestRunning: metric{add: func(v float64) { g.longestRunning = append(g.longestRunning, v) }, g: g},
		ParkedDuration: metric{add: func(v float64) { g.parkedDuration = append(g.parkedDuration, v) }, g: g},
		Late:           metric{add: func(v float64) { g.late += v }, g: g},
	}
}

type metric struct {
	g   *gauges
	add func(float64)
}

func (m metric) Inc()              { m.Observe(1) }
func (m metric) Dec()              { m.Observe(-1) }
func (m metric) Set(v float64)     { m.Observe(v) }
func (m metric) Observe(v float64) { m.g.mu.Lock(); defer m.g.mu.Unlock(); m.add(v) }

// TestDepthOfPriorities checks that an item counts under its priority from Add to Get, also while it waits
// for its Done, and moves when its priority is raised.
func TestDepthOfPriorities(t *testing.T) {
	for _, ageing := range []time.Duration{-1, 0} {
		g, depth := newGauges(), map[int]float64{}
		config := queue.Config[string]{Ageing: ageing, Metrics: g.metrics()}
		config.Metrics.DepthOf = func(priority int) workqueue.GaugeMetric {
			return metric{add: func(v float64) { depth[priority] += v }, g: g}
		}
		q := queue.New(config)
		check := func(want map[int]float64) {
			t.Helper()
			if ageing == 0 { // no priorities
				total := 0.0
				for _, n := range want {
					total += n
				}
				want = map[int]float64{0: total}
			}
			if !maps.Equal(depth, want) {
				t.Errorf("ageing %v: %v, want %v", ageing, depth, want)
			}
		}
		q.AddWith("a", at(-100))
		q.AddWith("b", at(5))
		check(map[int]float64{-100: 1, 5: 1})
		q.AddWith("a", at(0))
		q.AddWith("b", at(0))
		check(map[int]float64{-100: 0, 0: 1, 5: 1})
		first, _ := q.Get()
		second, _ := q.Get()
		check(map[int]float64{-100: 0, 0: 0, 5: 0})
		q.AddWith(first, at(5))
		q.AddWith(first, at(7))
		q.Done(first)
		q.Done(second)
		check(map[int]float64{-100: 0, 0: 0, 5: 0, 7: 1})
		if g.depth != 0 || g.adds != 3 {
			t.Errorf("ageing %v: depth %v, adds %v", ageing, g.depth, g.adds)
		}
	}
}

// TestMetricsOfGate checks how long items were held back, also one that Done has made wait, and that neither
// the time in process nor what a shutdown ends counts.
func TestMetricsOfGate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, closed := newGauges(), false
		q := queue.New(queue.Config[string]{Metrics: g.metrics(), Gate: func(string) bool { return closed }})
		q.Add("a")
		q.Get()
		closed = true
		q.Add("a")
		q.Add("b")
		bubble.Pass(time.Second)
		q.Done("a") // It is held back from now on, b for a second already.
		bubble.Pass(2 * time.Second)
		q.Release("a")
		q.ReleaseLate("b", "cause")
		q.Release("b") // It isn't held back any more.
		if want := []float64{2, 3}; !slices.Equal(g.parkedDuration, want) || g.late != 1 {
			t.Errorf("held back for %v, want %v; %v late", g.parkedDuration, want, g.late)
		}
		q.Get()
		bubble.Pass(time.Second)
		q.Done("a")
		if want := []float64{1, 1}; !slices.Equal(g.work, want) || g.longestRunning[len(g.longestRunning)-1] > 1 {
			t.Errorf("in process for %v, want %v; the longest %v", g.work, want, g.longestRunning)
		}
		q.Add("c")
		q.ShutDown()
		if len(g.parkedDuration) != 2 || g.late != 1 || g.parked != 0 {
			t.Errorf("after the shutdown: %v, %v late, %v parked", g.parkedDuration, g.late, g.parked)
		}
	})
}

func TestMetrics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGauges()
		q := queue.New(queue.Config[string]{Metrics: g.metrics()})
		q.Add("a")
		q.Add("a")
		q.AddAfter("b", time.Second)
		bubble.Advance(1250 * time.Millisecond)
		q.Add("c")
		if g.depth != 3 || g.adds != 3 || g.retries != 1 {
			t.Errorf("depth %v, adds %v, retries %v", g.depth, g.adds, g.retries)
		}
		q.Get()
		bubble.Pass(250 * time.Millisecond)
		q.Get()
		q.Add("a")
		if want := []float64{1.25, 0.5}; !slices.Equal(g.latency, want) || g.depth != 2 {
			t.Errorf("latency %v, want %v; depth %v", g.latency, want, g.depth)
		}
		bubble.Pass(time.Second) // a runs for 1.25 s, b for 1 s
		q.Done("a")
		q.Done("b")
		if want := []float64{1.25, 1}; !slices.Equal(g.work, want) {
			t.Errorf("work %v, want %v", g.work, want)
		}
		// Every half second from the first Get, and a last time with 0.
		bubble.Advance(10 * time.Second)
		if want := []float64{0.5 + 0.25, 1 + 0.75, 0}; !slices.Equal(g.unfinished, want) {
			t.Errorf("unfinished %v, want %v", g.unfinished, want)
		}
		if want := []float64{0.5, 1, 0}; !slices.Equal(g.longestRunning, want) {
			t.Errorf("longest running %v, want %v", g.longestRunning, want)
		}
		// After a shutdown the gauges still follow the items in process.
		q.Get()
		q.ShutDown()
		bubble.Advance(500 * time.Millisecond)
		q.Done("c")
		bubble.Advance(time.Second)
		if want := []float64{0.75, 1.75, 0, 0.5, 0}; !slices.Equal(g.unfinished, want) {
			t.Errorf("unfinished %v, want %v", g.unfinished, want)
		}
	})
}
