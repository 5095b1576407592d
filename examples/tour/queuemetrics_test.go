package tour

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/kubewright/kubewright/runtime/workqueue"
)

// numbers is a metrics provider that keeps metrics in a map. Programs use contrib/prometheus instead.
type numbers struct {
	mu     sync.Mutex
	values map[string]float64
}

// number serves as counter, gauge and histogram; as a histogram it counts observations.
type number struct {
	of   *numbers
	name string
}

func (n number) change(f func(old float64) float64) {
	n.of.mu.Lock()
	defer n.of.mu.Unlock()
	n.of.values[n.name] = f(n.of.values[n.name])
}

func (n number) Inc()            { n.change(func(old float64) float64 { return old + 1 }) }
func (n number) Dec()            { n.change(func(old float64) float64 { return old - 1 }) }
func (n number) Set(v float64)   { n.change(func(float64) float64 { return v }) }
func (n number) Observe(float64) { n.Inc() }

func (n *numbers) NewDepthMetric(queue string) workqueue.GaugeMetric {
	return number{n, queue + " depth"}
}
func (n *numbers) NewAddsMetric(queue string) workqueue.CounterMetric {
	return number{n, queue + " adds"}
}
func (n *numbers) NewLatencyMetric(queue string) workqueue.HistogramMetric {
	return number{n, queue + " waited"}
}
func (n *numbers) NewWorkDurationMetric(queue string) workqueue.HistogramMetric {
	return number{n, queue + " processed"}
}
func (n *numbers) NewUnfinishedWorkSecondsMetric(queue string) workqueue.SettableGaugeMetric {
	return number{n, queue + " unfinished"}
}
func (n *numbers) NewLongestRunningProcessorSecondsMetric(queue string) workqueue.SettableGaugeMetric {
	return number{n, queue + " longest"}
}
func (n *numbers) NewRetriesMetric(queue string) workqueue.CounterMetric {
	return number{n, queue + " retries"}
}

// A queue with a name has metrics: how many items wait, were added and were retried, and how long they waited
// and were processed. The last two are histograms of seconds, of which this test shows the counts.
func Example_queueMetrics() {
	metrics := &numbers{values: map[string]float64{}}
	queue := workqueue.NewTypedRateLimitingQueueWithConfig(
		workqueue.NewTypedItemExponentialFailureRateLimiter[string](time.Hour, time.Hour), // so none comes back
		workqueue.TypedRateLimitingQueueConfig[string]{Name: "bakeries", MetricsProvider: metrics})
	queue.Add("town/ann")
	queue.Add("town/ben")
	item, _ := queue.Get()
	queue.AddRateLimited(item)
	queue.Done(item)
	queue.ShutDown()

	metrics.mu.Lock()
	defer metrics.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(metrics.values)) {
		if name == "bakeries unfinished" || name == "bakeries longest" {
			continue // gauges of seconds since Get, set twice a second while a worker has an item
		}
		fmt.Println(name, metrics.values[name])
	}
	// Output:
	// bakeries adds 2
	// bakeries depth 1
	// bakeries processed 1
	// bakeries retries 1
	// bakeries waited 1
}
