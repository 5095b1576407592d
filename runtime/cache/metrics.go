package cache

import (
	"strconv"
	"sync/atomic"

	"k8s.io/client-go/tools/cache"
)

// informerMetrics is the provider of whoever isn't given one.
var informerMetrics atomic.Pointer[InformerMetricsProvider]

// SetInformerMetricsProvider makes the stores and queues that are created from
// now on, and that have no provider of their own, use this one. Only the first
// call has an effect.
func SetInformerMetricsProvider(metricsProvider InformerMetricsProvider) {
	informerMetrics.CompareAndSwap(nil, &metricsProvider)
}

// SetReflectorMetricsProvider hands the provider to client-go, whose reflectors
// have had no metrics for long; neither have ours.
func SetReflectorMetricsProvider(metricsProvider MetricsProvider) {
	cache.SetReflectorMetricsProvider(metricsProvider)
}

// metricsOf returns the provider for something with that identity: the given
// one, else the process's. There is none for what has no reserved name.
func metricsOf(id InformerNameAndResource, given InformerMetricsProvider) InformerMetricsProvider {
	switch {
	case !id.Reserved():
		return nil
	case given != nil:
		return given
	}
	if set := informerMetrics.Load(); set != nil {
		return *set
	}
	return nil
}

// versionMetric is the gauge of a store's resourceVersion.
type versionMetric struct{ gauge GaugeMetric }

func newVersionMetric(id InformerNameAndResource, given InformerMetricsProvider) versionMetric {
	if provider := metricsOf(id, given); provider != nil {
		return versionMetric{provider.NewStoreResourceVersionMetric(id)}
	}
	return versionMetric{}
}

// metricDigits is how many digits of a version a gauge, which is a float, takes
// without losing any.
const metricDigits = 15

// set shows the last digits of a version. One that is no number isn't shown.
func (m versionMetric) set(version string) {
	if m.gauge == nil {
		return
	}
	var number int64
	if version != "" {
		var err error
		if number, err = strconv.ParseInt(version[max(0, len(version)-metricDigits):], 10, 64); err != nil {
			return
		}
	}
	m.gauge.Set(float64(number))
}
