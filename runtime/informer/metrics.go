package informer

import (
	"time"

	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/runtime/internal/metrics"
)

// SetMetricsProvider makes the informers that are started from now on, and that
// have no provider of their own, use this one. Only the first call has an
// effect, as with client-go's function for client-go's informers, whose provider
// nobody can read.
func SetMetricsProvider(provider cache.InformerMetricsProvider) { metrics.SetProvider(provider) }

// informerMetrics are those of an informer, published when client-go publishes them. A
// nil *informerMetrics does nothing and costs nothing.
type informerMetrics struct {
	length  cache.GaugeMetric
	latency cache.HistogramMetric
	store   cache.GaugeMetric
}

func newMetrics[K comparable](config config[K]) *informerMetrics {
	if config.identifier == nil {
		return nil
	}
	id := config.identifier()
	provider := metrics.ProviderFor(id, config.metricsProvider)
	if provider == nil {
		return nil
	}
	return &informerMetrics{
		length:  provider.NewQueuedItemMetric(id),
		latency: provider.NewProcessingLatencyMetric(id),
		store:   provider.NewStoreResourceVersionMetric(id),
	}
}

// queued shows how much waits between the reflector and the store.
func (m *informerMetrics) queued(queue interface{ Len() int }) {
	if m != nil {
		m.length.Set(float64(queue.Len()))
	}
}

// took shows that a batch was taken off the queue, and returns when.
func (m *informerMetrics) took(queue interface{ Len() int }) (when time.Time) {
	if m != nil {
		m.queued(queue)
		when = time.Now()
	}
	return when
}

// observe records how long a batch took from the queue into the store and the
// log of the handlers.
func (m *informerMetrics) observe(taken time.Time) {
	if m != nil {
		m.latency.Observe(time.Since(taken).Seconds())
	}
}

func (m *informerMetrics) version(resourceVersion string) {
	metrics.SetVersion(m.store, resourceVersion)
}
