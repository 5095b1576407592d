// Package kwprometheus gives the work queues and informers of kubewright
// Prometheus metrics with the names that client-go's have in Kubernetes.
// NewInformerProvider lists those of informers. Those of queues are
//
//	workqueue_depth
//	workqueue_adds_total
//	workqueue_queue_duration_seconds
//	workqueue_work_duration_seconds
//	workqueue_unfinished_work_seconds
//	workqueue_longest_running_processor_seconds
//	workqueue_retries_total
//	workqueue_parked
//	workqueue_parked_duration_seconds
//	workqueue_parked_late_total
//	workqueue_unknown_writes_total
//
// The last four aren't client-go's, and only queues with a Config.Gate have them: three are of what that
// holds back, the last one counts for package ownwrites. Their labels are those of workqueue_depth, without a
// priority.
//
// As in client-go, only informers of a factory that has an informer name have metrics.
//
// One call at the start of a program is enough:
//
//	kwprometheus.Register(prometheus.DefaultRegisterer) // without either of these
//	kwprometheus.Register(metrics.Registry)             // with controller-runtime
//	kwprometheus.Register(legacyregistry.Registerer())  // with component-base
//
// controller-runtime and component-base register the metrics of client-go's queues,
// component-base also those of its informers. In their registries ours are added to the same
// metrics, with other values of the label name.
//
// It is a module of its own, so that only its users depend on Prometheus.
package kwprometheus

import (
	"fmt"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	upstream "k8s.io/client-go/util/workqueue"

	"github.com/kubewright/kubewright/runtime/queue"
	"github.com/kubewright/kubewright/runtime/workqueue"
)

// Register makes queues and informers register their metrics with registerer: the queues of
// package workqueue that are created from now on, with a name and without a provider of
// their own, and the informers that start from now on with a reserved identity. As with
// workqueue.SetProvider, which it calls, only the first call has an effect.
func Register(registerer prometheus.Registerer) {
	workqueue.SetProvider(NewProvider(registerer))
	UseInformers(registerer)
}

// NewProvider returns a provider of metrics in a registry, for the MetricsProvider of a
// configuration, or for client-go's SetProvider in a program that hasn't called that. It
// registers nothing before the first queue is created. If the registry then has a metric of
// the same name and kind with a label name, the provider uses it, so a registry can have any
// number of providers. If the metric is of another kind, creating the queue panics, as with
// client-go's providers.
func NewProvider(registerer prometheus.Registerer) workqueue.MetricsProvider {
	return &provider{registerer: registerer}
}

type provider struct {
	registerer prometheus.Registerer

	registration registration
	// depths has the depths of all queues.
	depths                            *prometheus.GaugeVec
	depth, unfinished, longestRunning vec[prometheus.Gauge]
	adds, retries                     vec[prometheus.Counter]
	latency, workDuration             vec[prometheus.Observer]
	gates                             vec[*gate]
}

// vec makes the metric of a queue.
type vec[M any] func(name string) M

func (p *provider) NewDepthMetric(name string) workqueue.GaugeMetric {
	return p.forQueue(name).depth(name)
}

func (p *provider) NewAddsMetric(name string) workqueue.CounterMetric {
	return p.forQueue(name).adds(name)
}

func (p *provider) NewLatencyMetric(name string) workqueue.HistogramMetric {
	return p.forQueue(name).latency(name)
}

func (p *provider) NewWorkDurationMetric(name string) workqueue.HistogramMetric {
	return p.forQueue(name).workDuration(name)
}

func (p *provider) NewUnfinishedWorkSecondsMetric(name string) workqueue.SettableGaugeMetric {
	return p.forQueue(name).unfinished(name)
}

func (p *provider) NewLongestRunningProcessorSecondsMetric(name string) workqueue.SettableGaugeMetric {
	return p.forQueue(name).longestRunning(name)
}

func (p *provider) NewRetriesMetric(name string) workqueue.CounterMetric {
	return p.forQueue(name).retries(name)
}

// SetGateMetrics is the method that workqueue.NewMetrics looks for.
func (p *provider) SetGateMetrics(m *queue.Metrics, name string) {
	gates := p.forQueue(name).gates
	g := gaugeOnceUsed(sync.OnceValue(func() *gate { return gates(name) }))
	m.Parked, m.ParkedDuration = g, histogramOnceUsed(g)
	m.Late = counterOnceUsed(func() prometheus.Counter { return g().late })
	m.UnknownWrites = counterOnceUsed(func() prometheus.Counter { return g().unknown })
}

// gate has the metrics of a queue with a Gate.
type gate struct {
	parked        prometheus.Gauge
	duration      prometheus.Observer
	late, unknown prometheus.Counter
}

// The metrics of a gate are made when the first of them is used: queues without a Gate don't have them.
type (
	gaugeOnceUsed     func() *gate
	histogramOnceUsed func() *gate
	counterOnceUsed   func() prometheus.Counter
)

func (g gaugeOnceUsed) Inc()                  { g().parked.Inc() }
func (g gaugeOnceUsed) Dec()                  { g().parked.Dec() }
func (g histogramOnceUsed) Observe(v float64) { g().duration.Observe(v) }
func (c counterOnceUsed) Inc()                { c().Inc() }

// forQueue registers the metrics, once. name is the name of the first queue.
func (p *provider) forQueue(name string) *provider {
	p.registration.ensure(func() {
		if describedAs(p.registerer, newGauge("depth", "")) != nil {
			return // client-go has registered them, or a provider of ours that let client-go go first
		}
		// This creates metrics of that name, which the queue is about to need anyway.
		upstream.NewTypedWithConfig(upstream.TypedQueueConfig[string]{Name: name}).ShutDown()
	}, p.register)
	return p
}

func (p *provider) register() {
	gauges := func(key string, v *prometheus.GaugeVec) vec[prometheus.Gauge] {
		return func(name string) prometheus.Gauge { return with(key, name, v.GetMetricWith) }
	}
	gauge := func(key, help string, more ...string) vec[prometheus.Gauge] {
		return gauges(key, join(p.registerer, newGauge(key, help, more...)))
	}
	counter := func(key, help string, more ...string) vec[prometheus.Counter] {
		v := join(p.registerer,
			prometheus.NewCounterVec(prometheus.CounterOpts{Subsystem: subsystem, Name: key, Help: help},
				append(more, labels...)))
		return func(name string) prometheus.Counter { return with(key, name, v.GetMetricWith) }
	}
	histogram := func(key, help string, buckets []float64, more ...string) vec[prometheus.Observer] {
		v := join(p.registerer, prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Subsystem: subsystem, Name: key, Help: help, Buckets: buckets,
		}, append(more, labels...)))
		return func(name string) prometheus.Observer { return with(key, name, v.GetMetricWith) }
	}
	times := prometheus.ExponentialBuckets(10e-9, 10, 12) // 10 ns to 1000 s: controller-runtime's buckets
	p.depths = join(p.registerer, newGauge("depth", "Items that were added and not yet taken by a worker"))
	p.depth = gauges("depth", p.depths)
	p.adds = counter("adds_total", "Items added")
	p.latency = histogram("queue_duration_seconds",
		"How long items waited for a worker, in seconds", times)
	p.workDuration = histogram("work_duration_seconds",
		"How long items were with a worker, in seconds", times)
	p.unfinished = gauge("unfinished_work_seconds",
		"How long all items that are with a worker have been there, together, in seconds: that it grows "+
			"means stuck workers, and how fast it grows how many")
	p.longestRunning = gauge("longest_running_processor_seconds",
		"How long the oldest item that is with a worker has been there, in seconds")
	p.retries = counter("retries_total", "Items added with a delay")
	var more []string
	if has(p.depths, "controller") {
		more = []string{"controller"}
	}
	parked := gauge("parked",
		"Items that are held back, such as until caches show what was written for them; workqueue_depth "+
			"includes them", more...)
	duration := histogram("parked_duration_seconds",
		"How long items were held back, in seconds; items that weren't don't count",
		prometheus.ExponentialBuckets(0.001, 2, 16), // 1 ms to 33 s: the bound of package ownwrites is 10 s
		more...)
	late := counter("parked_late_total",
		"Items that were handed out though a cache didn't show their own writes, because they had waited for "+
			"long enough", more...)
	unknown := counter("unknown_writes_total",
		"Runs of items that don't wait for a write because its answer was lost", more...)
	p.gates = func(name string) *gate { return &gate{parked(name), duration(name), late(name), unknown(name)} }
}

func newGauge(key, help string, more ...string) *prometheus.GaugeVec {
	return prometheus.NewGaugeVec(prometheus.GaugeOpts{Subsystem: subsystem, Name: key, Help: help},
		append(more, labels...))
}

const subsystem = "workqueue"

var labels = []string{"name"}

// with returns the metric of a queue. It tries the label sets that the registered metric may
// have: component-base's, then controller-runtime's two. These have the queue's name twice,
// and the second one has a priority, which stays empty.
func with[M any](key, name string, get func(prometheus.Labels) (M, error)) M {
	var metric M
	var err error
	for _, labels := range []prometheus.Labels{
		{"name": name},
		{"name": name, "controller": name},
		{"name": name, "controller": name, "priority": ""},
	} {
		if metric, err = get(labels); err == nil {
			return metric
		}
	}
	panic(fmt.Sprintf("kwprometheus: the registry's %s_%s has other labels: %v", subsystem, key, err))
}
