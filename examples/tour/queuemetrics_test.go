package tour

import (
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/kubewright/kubewright/runtime/workqueue"
)

// numbers is a provider of metrics that keeps them in a map. Programs use contrib/prometheus in its place.
type numbers struct {
	mu     sync.Mutex
	values map[string]float64
}

// number is a counter, a gauge and a histogram: it adds up, or holds the last value.
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
func (n number) Observe(float64) { n.change(func(old float64) float64 { return old + 1 }) } // counts observations

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

// A queue with a name has metrics: how many items wait, were added, tried again, and for how long.
func Example_queueMetrics() {
	metrics := &numbers{values: map[string]float64{}}
	queue := workqueue.NewTypedRateLimitingQueueWithConfig(
		workqueue.DefaultTypedControllerRateLimiter[string](),
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
			continue // seconds, updated twice a second
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
