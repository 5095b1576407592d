package kwprometheus

import (
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/runtime/informer"
)

// UseInformers is the part of Register for informers. As with informer.SetMetricsProvider,
// which it calls, only the first call has an effect.
func UseInformers(registerer prometheus.Registerer) {
	informer.SetMetricsProvider(NewInformerProvider(registerer))
}

// NewInformerProvider returns a provider of these metrics in a registry:
//
//	informer_queued_items
//	informer_processing_latency_seconds
//	informer_store_resource_version
//
// It is for the MetricsProvider of an informer's configuration, or for client-go's
// SetInformerMetricsProvider in a program that hasn't called that. It uses metrics that the registry
// has already, as NewProvider does. It registers nothing before the first informer with a reserved
// identity starts. When an identity is released, its metrics keep their last values.
func NewInformerProvider(registerer prometheus.Registerer) cache.InformerMetricsProvider {
	return &informerProvider{registerer: registerer}
}

type informerProvider struct {
	registerer prometheus.Registerer

	registration    registration
	queued, version *prometheus.GaugeVec
	latency         *prometheus.HistogramVec
}

const informerSubsystem = "informer"

var informerLabels = []string{"name", "group", "version", "resource"}

func (p *informerProvider) NewQueuedItemMetric(id cache.InformerNameAndResource) cache.GaugeMetric {
	return reserved{id: id, gauge: informerMetric(id, p.forInformer(id).queued.GetMetricWith)}
}

func (p *informerProvider) NewProcessingLatencyMetric(
	id cache.InformerNameAndResource,
) cache.HistogramMetric {
	return reserved{id: id, histogram: informerMetric(id, p.forInformer(id).latency.GetMetricWith)}
}

func (p *informerProvider) NewStoreResourceVersionMetric(id cache.InformerNameAndResource) cache.GaugeMetric {
	return reserved{id: id, gauge: informerMetric(id, p.forInformer(id).version.GetMetricWith)}
}

// forInformer registers the metrics, once. id is the identity of the first informer.
func (p *informerProvider) forInformer(id cache.InformerNameAndResource) *informerProvider {
	p.registration.ensure(func() {
		// This makes metrics of id, which the informer is about to have anyway.
		cache.NewStore(cache.MetaNamespaceKeyFunc, cache.WithStoreMetrics(id, nil))
	}, p.register)
	return p
}

func (p *informerProvider) register() {
	p.queued = join(p.registerer, prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Subsystem: informerSubsystem, Name: "queued_items",
		Help: "What was read from the server and is not in the store yet",
	}, informerLabels))
	p.version = join(p.registerer, prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Subsystem: informerSubsystem, Name: "store_resource_version",
		Help: "The last 15 digits of the resourceVersion that the store shows",
	}, informerLabels))
	p.latency = join(p.registerer, prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Subsystem: informerSubsystem, Name: "processing_latency_seconds",
		Help: "How long what was taken from the queue took into the store and to where handlers read it, " +
			"in seconds",
		// component-base's buckets.
		Buckets: []float64{0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10},
	}, informerLabels))
}

// informerMetric returns the metric of an identity.
func informerMetric[M any](id cache.InformerNameAndResource, get func(prometheus.Labels) (M, error)) M {
	resource := id.GroupVersionResource()
	metric, err := get(prometheus.Labels{"name": id.Name(), "group": resource.Group,
		"version": resource.Version, "resource": resource.Resource})
	if err != nil {
		panic(fmt.Sprintf("kwprometheus: the registry's metrics of informers have other labels: %v", err))
	}
	return metric
}

// reserved is a metric that is written only while its identity is reserved: after that, the
// name may belong to another informer.
type reserved struct {
	id        cache.InformerNameAndResource
	gauge     prometheus.Gauge
	histogram prometheus.Observer
}

func (r reserved) Set(value float64) {
	if r.id.Reserved() {
		r.gauge.Set(value)
	}
}

func (r reserved) Observe(value float64) {
	if r.id.Reserved() {
		r.histogram.Observe(value)
	}
}
