package workqueue_test

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing/synctest"
	"time"

	upstream "k8s.io/client-go/util/workqueue"
)

// transcript is what a scenario says.
type transcript struct {
	mu    sync.Mutex
	start time.Time
	lines []string
}

func newTranscript() *transcript { return &transcript{start: time.Now()} }

func (tr *transcript) say(format string, args ...any) {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	tr.lines = append(tr.lines, fmt.Sprintf(format, args...))
}

func (tr *transcript) get(q upstream.TypedInterface[string]) string {
	item, shutdown := q.Get()
	tr.say("%v get %q %v", time.Since(tr.start), item, shutdown)
	return item
}

// rest takes what is ready.
func (tr *transcript) rest(q upstream.TypedInterface[string]) {
	synctest.Wait()
	for q.Len() > 0 {
		q.Done(tr.get(q))
	}
}

func (tr *transcript) wait(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// scenarios run in a bubble. A scenario ends its queues.
var scenarios = map[string]func(side) []string{
	"order and duplicates": func(s side) []string {
		tr, q := newTranscript(), s.plain(config{})
		for _, item := range []string{"c", "a", "c", "b", "a"} {
			q.Add(item)
			tr.say("%d", q.Len())
		}
		tr.rest(q)
		q.ShutDown()
		return tr.lines
	},
	"added while in process": func(s side) []string {
		tr, q := newTranscript(), s.plain(config{})
		q.Add("a")
		tr.get(q)
		q.Add("b")
		q.Add("a")
		q.Add("a")
		tr.say("%d", q.Len())
		q.Done("a")
		tr.say("%d", q.Len())
		tr.rest(q)
		q.ShutDown()
		return tr.lines
	},
	"done without get": func(s side) []string {
		tr, q := newTranscript(), s.plain(config{})
		q.Done("a")
		q.Add("a")
		q.Done("a")
		tr.say("%d", q.Len())
		tr.rest(q)
		q.ShutDown()
		return tr.lines
	},
	"done twice": func(s side) []string {
		tr, q := newTranscript(), s.plain(config{})
		q.Add("a")
		q.Done(tr.get(q))
		q.Done("a")
		q.Add("a")
		tr.rest(q)
		q.ShutDown()
		return tr.lines
	},
	"shutdown": func(s side) []string {
		tr, q := newTranscript(), s.limiting(config{limiter: s.exponential(time.Second, time.Hour)})
		for _, item := range []string{"a", "b"} {
			q.Add(item)
		}
		tr.get(q)
		q.Add("a")
		q.AddAfter("delayed", time.Second)
		tr.say("%v", q.ShuttingDown())
		q.ShutDown()
		q.ShutDown()
		tr.say("%v", q.ShuttingDown())
		for _, item := range []string{"c", "b"} {
			q.Add(item)
			q.AddAfter(item, time.Second)
			q.AddRateLimited(item)
		}
		tr.say("%d", q.NumRequeues("c"))
		tr.wait(time.Minute)
		q.Done("a")
		tr.rest(q)
		tr.get(q)
		return tr.lines
	},
	"waiting workers end": func(s side) []string {
		tr, q := newTranscript(), s.plain(config{})
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() { tr.get(q) })
		}
		tr.wait(time.Second)
		q.ShutDown()
		wg.Wait()
		return tr.lines
	},
	"drain": func(s side) []string {
		tr, q := newTranscript(), s.limiting(config{limiter: s.exponential(time.Second, time.Hour)})
		q.Add("a")
		q.Add("b")
		tr.get(q)
		q.AddAfter("delayed", 2*time.Second)
		var wg sync.WaitGroup
		wg.Go(func() {
			q.ShutDownWithDrain()
			tr.say("%v drained", time.Since(tr.start))
		})
		tr.wait(3 * time.Second)
		q.Done("a")
		wg.Wait()
		tr.rest(q)
		tr.get(q)
		q.ShutDown()
		return tr.lines
	},
	"drain of nothing": func(s side) []string {
		tr, q := newTranscript(), s.plain(config{})
		q.Add("a")
		q.ShutDownWithDrain()
		tr.rest(q)
		q.ShutDown()
		return tr.lines
	},
	"shutdown ends a drain": func(s side) []string {
		tr, q := newTranscript(), s.plain(config{})
		q.Add("a")
		tr.get(q)
		var wg sync.WaitGroup
		wg.Go(q.ShutDownWithDrain)
		tr.wait(time.Second)
		q.ShutDown()
		wg.Wait()
		tr.say("%v", time.Since(tr.start))
		return tr.lines
	},
	"many drain": func(s side) []string {
		tr, q := newTranscript(), s.plain(config{})
		q.Add("a")
		tr.get(q)
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() {
				q.ShutDownWithDrain()
				tr.say("%v drained", time.Since(tr.start))
			})
		}
		tr.wait(time.Second)
		q.Done("a")
		tr.wait(time.Second)
		q.ShutDown()
		wg.Wait()
		return tr.lines
	},
	"delays": func(s side) []string {
		tr, q := newTranscript(), s.delaying(config{})
		q.AddAfter("b", 2*time.Second)
		q.AddAfter("a", time.Second)
		q.AddAfter("b", 3*time.Second)
		q.AddAfter("c", 5*time.Second)
		q.AddAfter("c", 4*time.Second)
		q.AddAfter("now", 0)
		q.AddAfter("before", -time.Second)
		for range 5 {
			q.Done(tr.get(q))
		}
		tr.wait(time.Minute)
		tr.say("%d", q.Len())
		q.ShutDown()
		return tr.lines
	},
	"a delayed copy stays": func(s side) []string {
		tr, q := newTranscript(), s.delaying(config{})
		q.AddAfter("a", time.Second)
		q.AddAfter("b", time.Second)
		q.Add("a")
		tr.rest(q)
		q.Add("b")
		tr.wait(time.Second) // b is ready as its delay ends, and runs once
		tr.rest(q)
		q.ShutDown()
		return tr.lines
	},
	"delayed while in process": func(s side) []string {
		tr, q := newTranscript(), s.delaying(config{})
		q.Add("a")
		tr.get(q)
		q.AddAfter("a", time.Second)
		tr.wait(2 * time.Second)
		tr.say("%d", q.Len())
		q.Done("a")
		tr.rest(q)
		q.ShutDown()
		return tr.lines
	},
	"backoff": func(s side) []string {
		tr, q := newTranscript(), s.limiting(config{limiter: s.exponential(time.Second, 5*time.Second)})
		for i := range 6 {
			q.AddRateLimited("a")
			tr.say("%d", q.NumRequeues("a"))
			q.Done(tr.get(q))
			if i == 4 {
				q.Forget("a")
			}
		}
		q.ShutDown()
		return tr.lines
	},
	"long backoff": func(s side) []string {
		tr, q := newTranscript(), s.limiting(config{limiter: s.exponential(1, time.Hour)})
		for range 63 {
			q.AddRateLimited("a")
			tr.rest(q)
			tr.wait(time.Hour)
			tr.rest(q)
		}
		q.AddRateLimited("a")
		tr.rest(q)
		q.ShutDown()
		return tr.lines
	},
	"an order of the caller": func(s side) []string {
		tr := newTranscript()
		q := s.plain(config{order: &spyOrder{tr: tr}})
		for _, item := range []string{"a", "b", "a"} {
			q.Add(item)
		}
		tr.get(q)
		q.Add("b")
		q.Add("b")
		q.Done("b")
		tr.rest(q)
		q.ShutDown()
		return tr.lines
	},
	"a queue of the caller": func(s side) []string {
		tr := newTranscript()
		q := s.limiting(config{
			limiter:  s.exponential(time.Second, time.Hour),
			delaying: s.delaying(config{queue: &spyQueue{TypedInterface: theirs.plain(config{}), tr: tr}}),
		})
		q.Add("a")
		q.AddAfter("b", time.Second)
		q.AddAfter("c", 0)
		q.AddRateLimited("d")
		q.AddRateLimited("d")
		tr.wait(time.Minute)
		tr.rest(q)
		tr.say("%d %d", q.NumRequeues("d"), q.Len())
		q.ShutDown()
		q.ShutDown()
		q.AddAfter("e", time.Second)
		tr.wait(time.Minute)
		return tr.lines
	},
	"shutdown of a delaying queue while draining": func(s side) []string {
		tr := newTranscript()
		inner := &spyQueue{TypedInterface: theirs.plain(config{}), tr: tr}
		q := s.delaying(config{queue: inner})
		q.AddAfter("a", time.Second)
		q.ShutDownWithDrain()
		tr.wait(time.Minute)
		q.ShutDown()
		return tr.lines
	},
	"metrics": func(s side) []string {
		tr := newTranscript()
		q := s.limiting(config{name: "n", provider: spyProvider{tr: tr}, limiter: s.exponential(time.Second, time.Hour)})
		q.Add("a")
		q.Add("a")
		tr.wait(100 * time.Millisecond)
		tr.get(q)
		q.Add("a")
		q.AddAfter("b", 100*time.Millisecond)
		q.AddAfter("c", 0)
		q.AddRateLimited("d")
		tr.wait(200 * time.Millisecond)
		q.Done("a")
		tr.rest(q)
		q.Done("a")
		q.ShutDown()
		q.AddAfter("c", 0)
		return tr.lines
	},
	"no name, no metrics": func(s side) []string {
		tr := newTranscript()
		for _, c := range []config{{provider: spyProvider{tr: tr}}, {name: "n"}} {
			for _, q := range []upstream.TypedInterface[string]{s.plain(c), s.delaying(c)} {
				q.Add("a")
				q.Done(tr.get(q))
				q.ShutDown()
			}
		}
		return tr.lines
	},
	"metrics of a plain queue": func(s side) []string {
		tr := newTranscript()
		s.plain(config{name: "n", provider: spyProvider{tr: tr}}).ShutDown()
		return tr.lines
	},
	"metrics of a delaying queue of the caller": func(s side) []string {
		tr := newTranscript()
		q := s.delaying(config{name: "n", provider: spyProvider{tr: tr}, queue: theirs.plain(config{})})
		q.AddAfter("a", time.Second)
		q.AddAfter("a", 0)
		q.ShutDown()
		return tr.lines
	},
	"idle gauges": func(s side) []string {
		tr := newTranscript()
		q := s.plain(config{name: "n", provider: spyProvider{tr: tr, gauges: true}})
		tr.wait(1100 * time.Millisecond)
		q.Add("a")
		tr.get(q)
		tr.wait(1100 * time.Millisecond)
		q.Done("a")
		tr.wait(time.Second)
		q.ShutDown()
		return tr.lines
	},
	"random": func(s side) []string {
		tr := newTranscript()
		for seed := range uint64(20) {
			q := s.limiting(config{limiter: s.exponential(time.Millisecond, time.Second)})
			r := rand.New(rand.NewPCG(seed, 10))
			inProcess := map[string]bool{}
			for range 1000 {
				item := fmt.Sprint(r.IntN(20))
				switch r.IntN(8) {
				case 0, 1:
					q.Add(item)
				case 2:
					// Delays of their own keep equal ones apart, whose
					// order client-go leaves open.
					q.AddAfter(item, time.Duration(r.IntN(1_000_000_000)))
				case 3:
					tr.wait(1)
					q.AddRateLimited(item)
				case 4:
					q.Forget(item)
					tr.say("%d", q.NumRequeues(item))
				case 5:
					if inProcess[item] {
						q.Done(item)
						delete(inProcess, item)
					}
				case 6:
					if q.Len() > 0 {
						inProcess[tr.get(q)] = true
					}
				case 7:
					for range r.IntN(100) {
						tr.wait(time.Duration(r.IntN(1_000_000)))
					}
				}
				synctest.Wait()
				tr.say("%d", q.Len())
			}
			q.ShutDown()
			for item := range inProcess {
				q.Done(item)
			}
			synctest.Wait()
			tr.say("%d", q.Len())
		}
		return tr.lines
	},
}

// spyOrder tells how it is used.
type spyOrder struct {
	tr    *transcript
	items []string
}

func (o *spyOrder) Len() int          { return len(o.items) }
func (o *spyOrder) Touch(item string) { o.tr.say("touch %s", item) }
func (o *spyOrder) Push(item string) {
	o.tr.say("push %s", item)
	o.items = append(o.items, item)
}
func (o *spyOrder) Pop() string {
	item := o.items[len(o.items)-1]
	o.items = o.items[:len(o.items)-1]
	o.tr.say("pop %s", item)
	return item
}

// spyQueue tells what reaches it.
type spyQueue struct {
	upstream.TypedInterface[string]
	tr *transcript
}

func (q *spyQueue) Add(item string) {
	q.tr.say("%v add %s", time.Since(q.tr.start), item)
	q.TypedInterface.Add(item)
}

func (q *spyQueue) ShutDown() {
	q.tr.say("shutdown")
	q.TypedInterface.ShutDown()
}

// spyProvider tells what the metrics are told. Updates of the gauges of
// unfinished work are left out unless wanted.
type spyProvider struct {
	tr     *transcript
	gauges bool
}

type spyMetric struct {
	spyProvider
	name string
}

func (p spyProvider) metric(kind, name string) spyMetric {
	p.tr.say("new %s of %s", kind, name)
	return spyMetric{p, kind}
}

func (m spyMetric) Inc()              { m.tr.say("%s+1", m.name) }
func (m spyMetric) Dec()              { m.tr.say("%s-1", m.name) }
func (m spyMetric) Observe(v float64) { m.tr.say("%s %v", m.name, v) }
func (m spyMetric) Set(v float64) {
	if m.gauges {
		m.tr.say("%v %s=%v", time.Since(m.tr.start), m.name, v)
	}
}

func (p spyProvider) NewDepthMetric(n string) upstream.GaugeMetric  { return p.metric("depth", n) }
func (p spyProvider) NewAddsMetric(n string) upstream.CounterMetric { return p.metric("adds", n) }
func (p spyProvider) NewLatencyMetric(n string) upstream.HistogramMetric {
	return p.metric("latency", n)
}
func (p spyProvider) NewWorkDurationMetric(n string) upstream.HistogramMetric {
	return p.metric("work", n)
}
func (p spyProvider) NewUnfinishedWorkSecondsMetric(n string) upstream.SettableGaugeMetric {
	return p.metric("unfinished", n)
}
func (p spyProvider) NewLongestRunningProcessorSecondsMetric(n string) upstream.SettableGaugeMetric {
	return p.metric("longest", n)
}
func (p spyProvider) NewRetriesMetric(n string) upstream.CounterMetric { return p.metric("retries", n) }
