package kwprometheus

import (
	"strconv"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/kubewright/kubewright/runtime/queue"
	"github.com/kubewright/kubewright/runtime/workqueue"
)

// PriorityMetrics returns the metrics of a queue with priorities, for the Config of [queue.New]: those of
// [workqueue.NewMetrics], except that workqueue_depth has a value for each priority if NewProvider returned
// the provider and the registered metric has the label priority, as controller-runtime's has. A queue
// has 25 such values at most, as in controller-runtime; items of further priorities are counted together
// as exceeded_cardinality_limit.
//
// Each queue needs a result of its own.
func PriorityMetrics(from workqueue.MetricsProvider, name string) *queue.Metrics {
	p, ours := from.(*provider)
	if !ours || name == "" {
		return workqueue.NewMetrics(from, name)
	}
	depths, err := p.forQueue(name).depths.CurryWith(prometheus.Labels{"name": name, "controller": name})
	if err != nil || !has(depths, "priority") {
		return workqueue.NewMetrics(from, name)
	}
	m := &queue.Metrics{
		DepthOf:        byPriority(depths),
		Adds:           p.adds(name),
		Latency:        p.latency(name),
		WorkDuration:   p.workDuration(name),
		UnfinishedWork: p.unfinished(name),
		LongestRunning: p.longestRunning(name),
		Retries:        p.retries(name),
	}
	p.SetGateMetrics(m, name)
	return m
}

// has reports whether the metrics have a label, without making one.
func has(v *prometheus.GaugeVec, label string) bool {
	_, err := v.CurryWith(prometheus.Labels{label: ""})
	return err == nil
}

// maxPriorities is the number of values of the label priority beyond which there is only one more.
const maxPriorities = 25

// byPriority returns the function that returns the gauge of a priority. The queue calls it with its
// lock held, so it has none.
func byPriority(v *prometheus.GaugeVec) func(priority int) workqueue.GaugeMetric {
	gauges := map[int]workqueue.GaugeMetric{}
	return func(priority int) workqueue.GaugeMetric {
		if g := gauges[priority]; g != nil {
			return g
		}
		if len(gauges) == maxPriorities {
			return v.WithLabelValues("exceeded_cardinality_limit")
		}
		g := v.WithLabelValues(strconv.Itoa(priority))
		gauges[priority] = g
		return g
	}
}
