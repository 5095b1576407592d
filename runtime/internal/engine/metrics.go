package engine

import (
	"time"

	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/runtime/internal/metrics"
)

// informerMetrics are the metrics of an informer, updated at the same points as in
// client-go. A nil *informerMetrics does nothing.
type informerMetrics struct {
	length  cache.GaugeMetric
	latency cache.HistogramMetric
	store   cache.GaugeMetric
}

func newMetrics[K comparable](config Config[K]) *informerMetrics {
	if config.Identifier == nil {
		return nil
	}
	id := config.Identifier()
	provider := metrics.ProviderFor(id, config.MetricsProvider)
	if provider == nil {
		return nil
	}
	return &informerMetrics{
		length:  provider.NewQueuedItemMetric(id),
		latency: provider.NewProcessingLatencyMetric(id),
		store:   provider.NewStoreResourceVersionMetric(id),
	}
}

// queued publishes how many deltas the queue holds.
func (m *informerMetrics) queued(queue interface{ Len() int }) {
	if m != nil {
		m.length.Set(float64(queue.Len()))
	}
}

// took publishes that a batch was taken off the queue. It returns the time for observe.
func (m *informerMetrics) took(queue interface{ Len() int }) (when time.Time) {
	if m != nil {
		m.queued(queue)
		when = time.Now()
	}
	return when
}

// observe records how long it took to apply a batch to the store and the change log.
func (m *informerMetrics) observe(taken time.Time) {
	if m != nil {
		m.latency.Observe(time.Since(taken).Seconds())
	}
}

// version publishes the version of a store. It reads the version only if there are
// metrics.
func (m *informerMetrics) version(store interface{ ResourceVersion() string }) {
	if m != nil {
		metrics.SetVersion(m.store, store.ResourceVersion())
	}
}
