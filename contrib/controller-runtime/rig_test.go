package kwctrl_test

import (
	"maps"
	"testing"
	"testing/synctest"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/kubewright/kubewright/internal/bubble"
	"github.com/kubewright/kubewright/internal/guarantee"
)

// rig is a queue in a bubble. After each step it waits until all goroutines are blocked, because upstream's
// queue does its work in goroutines.
type rig struct {
	*testing.T
	about guarantee.Guarantee
	name  string
	q     priorityqueue.PriorityQueue[string]
}

// failed reports what is broken, after the guarantee that it is about.
func (r *rig) failed(format string, args ...any) {
	r.Helper()
	r.Errorf("%s: "+format, append([]any{r.about}, args...)...)
}

// failedNow ends the test with failed.
func (r *rig) failedNow(format string, args ...any) {
	r.Helper()
	r.failed(format, args...)
	r.FailNow()
}

// handed is what GetWithPriority returns.
type handed struct {
	item     string
	priority int
	shutdown bool
}

func (r *rig) addWith(o priorityqueue.AddOpts, items ...string) {
	r.q.AddWithOpts(o, items...)
	synctest.Wait()
}

func (r *rig) add(priority int, items ...string) {
	r.addWith(priorityqueue.AddOpts{Priority: &priority}, items...)
}

func (r *rig) addAfter(delay time.Duration, items ...string) {
	r.addWith(priorityqueue.AddOpts{After: delay}, items...)
}

func (r *rig) done(item string) {
	r.q.Done(item)
	synctest.Wait()
}

func (r *rig) passes(d time.Duration) { bubble.Advance(d) }

// worker takes one item.
func (r *rig) worker() <-chan handed {
	result := make(chan handed, 1)
	go func() {
		item, priority, shutdown := r.q.GetWithPriority()
		result <- handed{item, priority, shutdown}
	}()
	synctest.Wait()
	return result
}

// has fails unless the worker has got what is wanted.
func (r *rig) has(worker <-chan handed, want handed) {
	r.Helper()
	select {
	case got := <-worker:
		if got != want {
			r.failedNow("a worker got %+v, want %+v", got, want)
		}
	default:
		r.failedNow("a worker waits for %+v", want)
	}
}

// waits fails if the worker has got something.
func (r *rig) waits(worker <-chan handed) {
	r.Helper()
	select {
	case got := <-worker:
		r.failedNow("a worker got %+v too early", got)
	default:
	}
}

// gets takes an item and fails unless it is that one.
func (r *rig) gets(item string, priority int) {
	r.Helper()
	r.has(r.worker(), handed{item: item, priority: priority})
}

func (r *rig) len(want int) {
	r.Helper()
	if got := r.q.Len(); got != want {
		r.failed("Len is %d, want %d", got, want)
	}
}

// depth is the metric workqueue_depth by its label priority.
type depth map[string]float64

// counts fails unless the metrics in controller-runtime's registry have these values.
func (r *rig) counts(adds, retries float64, want depth) {
	r.Helper()
	if got := measure(r.T, r.name); got.adds != adds || got.retries != retries || !maps.Equal(got.depth, want) {
		r.failed("metrics are %+v, want %v adds, %v retries, depth %v", got, adds, retries, want)
	}
}

// measured are the metrics of a queue.
type measured struct {
	adds, retries float64
	depth         depth
	// labels are the names of each metric's labels, by the metric's name.
	labels map[string]string
	// samples is the number of observations of each histogram.
	samples map[string]uint64
}

func measure(t *testing.T, queue string) measured {
	t.Helper()
	families, err := metrics.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	m := measured{depth: depth{}, labels: map[string]string{}, samples: map[string]uint64{}}
	for _, family := range families {
		for _, metric := range family.Metric {
			labels, names := map[string]string{}, ""
			for _, l := range metric.Label {
				labels[l.GetName()] = l.GetValue()
				names += l.GetName() + " "
			}
			if labels["name"] != queue {
				continue
			}
			if labels["controller"] != queue {
				t.Errorf("%s has the labels %v", family.GetName(), labels)
			}
			m.labels[family.GetName()] = names
			switch family.GetName() {
			case "workqueue_adds_total":
				m.adds = metric.Counter.GetValue()
			case "workqueue_retries_total":
				m.retries = metric.Counter.GetValue()
			case "workqueue_depth":
				m.depth[labels["priority"]] = metric.Gauge.GetValue()
			case "workqueue_queue_duration_seconds", "workqueue_work_duration_seconds":
				m.samples[family.GetName()] = metric.Histogram.GetSampleCount()
			}
		}
	}
	return m
}
