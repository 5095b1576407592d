package queue

import (
	"sync"
	"time"

	"k8s.io/client-go/util/workqueue"
)

// Metrics are the measurements of a queue: the seven of client-go's queues, and those of a queue with a
// Config.Gate. The seven must be set; function NewMetrics of package workqueue sets them from a provider. The
// queue calls DepthOf and the methods of the metrics with its lock held: they must be quick and must not call
// the queue. Times are in seconds.
type Metrics struct {
	// Depth is the number of items that were added and not yet handed out, including those that wait
	// for their Done.
	Depth workqueue.GaugeMetric
	// DepthOf replaces Depth, unless it is nil: it returns the gauge of these items that have the given
	// priority. All items of a queue without priorities have priority 0.
	DepthOf func(priority int) workqueue.GaugeMetric
	// Adds counts additions, except those of items that were already waiting.
	Adds workqueue.CounterMetric
	// Latency observes the time from Add to Get.
	Latency workqueue.HistogramMetric
	// WorkDuration observes the time from Get to Done.
	WorkDuration workqueue.HistogramMetric
	// UnfinishedWork is the sum of the times since Get of all items in process. It is updated every
	// half second while an item is in process.
	UnfinishedWork workqueue.SettableGaugeMetric
	// LongestRunning is the longest of these times, updated likewise.
	LongestRunning workqueue.SettableGaugeMetric
	// Retries counts additions with a delay.
	Retries workqueue.CounterMetric

	// Parked, if not nil, is the number of items that Config.Gate holds back. Depth includes them.
	Parked workqueue.GaugeMetric
	// ParkedDuration, if not nil, observes how long an item was held back before Release or ReleaseLate.
	ParkedDuration workqueue.HistogramMetric
	// Late, if not nil, counts the items that ReleaseLate has made ready.
	Late workqueue.CounterMetric
	// UnknownWrites, if not nil, counts the runs of which an answer to a write was lost: their items don't wait
	// for that write. Package ownwrites counts them, without the queue's lock, from any goroutine.
	UnknownWrites workqueue.CounterMetric
}

// unfinishedPeriod is that of client-go.
const unfinishedPeriod = 500 * time.Millisecond

// recorder keeps the times that the metrics need. Items in process are linked in the order of their
// start, so the oldest is first; the sum of the starts gives the sum of the ages.
type recorder struct {
	Metrics
	base *timebase
	mu   sync.Locker
	// times is indexed by slot id; 0 is the head of the list.
	times paged[times]
	// n is the number of items in process, starts the sum of the times when they were handed out.
	n      int64
	starts int64

	alarm   alarm
	ticking bool
}

type times struct {
	// queued is the time of Add. started is that of Get or, while the item is held back, when that began.
	queued, started int64
	prev, next      uint32
	waits, runs     bool
}

func newRecorder(m *Metrics, base *timebase, mu sync.Locker) *recorder {
	r := &recorder{Metrics: *m, base: base, mu: mu}
	r.giveBack()
	r.alarm = alarm{base: base, ring: r.tick}
	return r
}

func (r *recorder) at(id uint32) *times {
	r.times.grow(int(id) + 1)
	return r.times.at(int(id))
}

// depth is the gauge that counts items of a priority.
func (r *recorder) depth(priority int32) workqueue.GaugeMetric {
	if r.DepthOf == nil {
		return r.Depth
	}
	return r.DepthOf(int(priority))
}

func (r *recorder) added(id uint32, priority int32) {
	r.Adds.Inc()
	r.depth(priority).Inc()
	t := r.at(id)
	t.queued, t.waits = r.base.now(), true
}

func (r *recorder) raised(before, priority int32) {
	if r.DepthOf != nil {
		r.depth(before).Dec()
		r.depth(priority).Inc()
	}
}

// parked notes that an item is held back by Config.Gate. r may be nil.
func (r *recorder) parked(id uint32) {
	if r == nil {
		return
	}
	if r.ParkedDuration != nil {
		r.at(id).started = r.base.now()
	}
	if r.Parked != nil {
		r.Parked.Inc()
	}
}

// unparked notes that an item isn't held back any more. r may be nil.
func (r *recorder) unparked() {
	if r != nil && r.Parked != nil {
		r.Parked.Dec()
	}
}

// released notes that an item that was held back has been released. r may be nil.
func (r *recorder) released(id uint32) {
	if r != nil && r.ParkedDuration != nil {
		r.ParkedDuration.Observe(seconds(r.base.now() - r.at(id).started))
	}
}

// late notes that an item was released late. r may be nil.
func (r *recorder) late() {
	if r != nil && r.Late != nil {
		r.Late.Inc()
	}
}

func (r *recorder) got(id uint32, priority int32) {
	now := r.base.now()
	t := r.at(id)
	r.depth(priority).Dec()
	if t.waits {
		r.Latency.Observe(seconds(now - t.queued))
		t.waits = false
	}
	if !t.runs {
		t.runs, t.started = true, now
		last := &r.at(0).prev
		t.prev, t.next = *last, 0
		r.at(t.prev).next, *last = id, id
		r.n++
		r.starts += now
	}
	if !r.ticking {
		r.ticking = true
		r.alarm.set(now + int64(unfinishedPeriod))
	}
}

// done returns how long the item was in process.
func (r *recorder) done(id uint32) (took time.Duration) {
	t := r.at(id)
	took = time.Duration(r.base.now() - t.started)
	r.WorkDuration.Observe(took.Seconds())
	r.at(t.prev).next, r.at(t.next).prev = t.next, t.prev
	r.n--
	r.starts -= t.started
	t.runs = false
	return took
}

// giveBack frees the memory of a burst. No id may be in use.
func (r *recorder) giveBack() {
	r.times = paged[times]{}
	r.times.grow(1)
}

// tick updates the gauges, and sets the alarm again until nothing is in process. So their last value is 0.
func (r *recorder) tick() {
	r.mu.Lock()
	defer r.mu.Unlock()
	var oldest int64
	now := r.base.now()
	if first := r.at(0).next; first != 0 {
		oldest = now - r.at(first).started
	}
	r.UnfinishedWork.Set(seconds(r.n*now - r.starts))
	r.LongestRunning.Set(seconds(oldest))
	if r.ticking = r.n > 0; r.ticking {
		r.alarm.set(now + int64(unfinishedPeriod))
	}
}

// shutDown ends the ticks of a queue that has been shut down. While an item is in process they go on, without
// a goroutine if the clock allows it; the queue calls shutDown again when none is.
func (r *recorder) shutDown() {
	r.alarm.ending = true
	switch {
	case !r.ticking:
	case r.n == 0:
		r.ticking = false
		r.alarm.stop()
		r.UnfinishedWork.Set(0)
		r.LongestRunning.Set(0)
	case r.base.injected != nil:
		r.alarm.set(r.base.now() + int64(unfinishedPeriod))
	}
}

func seconds(ns int64) float64 { return time.Duration(ns).Seconds() }
