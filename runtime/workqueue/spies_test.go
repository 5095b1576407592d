package workqueue_test

import (
	"fmt"
	"sync"
	"testing/synctest"
	"time"

	upstream "k8s.io/client-go/util/workqueue"
)

// transcript records the events of a scenario.
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

// rest takes all items that are ready.
func (tr *transcript) rest(q upstream.TypedInterface[string]) {
	synctest.Wait()
	for q.Len() > 0 {
		q.Done(tr.get(q))
	}
}

// spyOrder records its calls.
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

// spyQueue records its calls.
type spyQueue struct {
	upstream.TypedInterface[string]
	tr *transcript
	// bad is an item whose Add panics.
	bad string
}

func (q *spyQueue) Add(item string) {
	q.tr.say("%v add %s", time.Since(q.tr.start), item)
	if item == q.bad {
		panic("a bad item")
	}
	q.TypedInterface.Add(item)
}

func (q *spyQueue) ShutDown() {
	q.tr.say("shutdown")
	q.TypedInterface.ShutDown()
}

// spyProvider records the calls of its metrics; those of the gauges of unfinished work only on demand.
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
