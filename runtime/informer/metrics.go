package informer

import (
	"strconv"
	"sync/atomic"
	"time"

	"k8s.io/client-go/tools/cache"
)

// metricsProvider is the one of informers that aren't given one.
var metricsProvider atomic.Pointer[cache.InformerMetricsProvider]

// SetMetricsProvider makes the informers that are started from now on, and that
// have no provider of their own, use this one. Only the first call has an
// effect, as with client-go's function for client-go's informers, whose provider
// nobody can read.
func SetMetricsProvider(provider cache.InformerMetricsProvider) {
	metricsProvider.CompareAndSwap(nil, &provider)
}

// MetricsProviderFor returns who makes the metrics of something with that
// identity: the given provider, else the process's. It returns nil if there is
// neither, or if the identity is not reserved: two that have the same one must
// not write the same metrics.
func MetricsProviderFor(id cache.InformerNameAndResource, given cache.InformerMetricsProvider) cache.InformerMetricsProvider {
	switch {
	case !id.Reserved():
		return nil
	case given != nil:
		return given
	}
	if set := metricsProvider.Load(); set != nil {
		return *set
	}
	return nil
}

// metrics are those of an informer, published when client-go publishes them. A
// nil *metrics does nothing and costs nothing.
type metrics struct {
	length  cache.GaugeMetric
	latency cache.HistogramMetric
	store   cache.GaugeMetric
}

func newMetrics[K comparable, T any](config Config[K, T]) *metrics {
	if config.Identifier == nil {
		return nil
	}
	id := config.Identifier()
	provider := MetricsProviderFor(id, config.MetricsProvider)
	if provider == nil {
		return nil
	}
	return &metrics{
		length:  provider.NewQueuedItemMetric(id),
		latency: provider.NewProcessingLatencyMetric(id),
		store:   provider.NewStoreResourceVersionMetric(id),
	}
}

// queued shows how much waits between the reflector and the store.
func (m *metrics) queued(queue interface{ Len() int }) {
	if m != nil {
		m.length.Set(float64(queue.Len()))
	}
}

// took shows that a batch was taken off the queue, and returns when.
func (m *metrics) took(queue interface{ Len() int }) (when time.Time) {
	if m != nil {
		m.queued(queue)
		when = time.Now()
	}
	return when
}

// dealt observes how long a batch took from the queue into the store and the
// log of the handlers.
func (m *metrics) dealt(taken time.Time) {
	if m != nil {
		m.latency.Observe(time.Since(taken).Seconds())
	}
}

func (m *metrics) version(resourceVersion string) { ShowVersion(m.store, resourceVersion) }

// metricDigits is how many digits of a version a gauge, which is a float, takes
// without losing any.
const metricDigits = 15

// ShowVersion sets a gauge to the last 15 digits of a resourceVersion, and to
// zero for the empty one. One that is no number is not shown.
func ShowVersion(gauge cache.GaugeMetric, resourceVersion string) {
	var number int64
	if resourceVersion != "" {
		var err error
		if number, err = strconv.ParseInt(resourceVersion[max(0, len(resourceVersion)-metricDigits):], 10, 64); err != nil {
			return
		}
	}
	gauge.Set(float64(number))
}
