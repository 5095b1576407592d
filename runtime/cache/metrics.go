package cache

import (
	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/runtime/informer"
	"github.com/kubewright/kubewright/runtime/internal/metrics"
)

// SetInformerMetricsProvider sets the provider of metrics for informers, stores and queues that are created
// later, have a reserved identity, and are given no provider of their own: ours and client-go's. Only the
// first call has an effect.
func SetInformerMetricsProvider(metricsProvider InformerMetricsProvider) {
	informer.SetMetricsProvider(metricsProvider)
	cache.SetInformerMetricsProvider(metricsProvider)
}

// SetReflectorMetricsProvider passes the provider to client-go, which doesn't use it: neither client-go's
// reflectors nor ours have metrics.
func SetReflectorMetricsProvider(metricsProvider MetricsProvider) {
	cache.SetReflectorMetricsProvider(metricsProvider)
}

// versionMetric shows the resourceVersion of a store. The zero value shows nothing.
type versionMetric struct{ gauge GaugeMetric }

func newVersionMetric(id InformerNameAndResource, given InformerMetricsProvider) versionMetric {
	if provider := metrics.ProviderFor(id, given); provider != nil {
		return versionMetric{provider.NewStoreResourceVersionMetric(id)}
	}
	return versionMetric{}
}

// set shows a version. It does nothing for a version that isn't a number, which a gauge can't show.
func (m versionMetric) set(version string) {
	if m.gauge != nil {
		metrics.SetVersion(m.gauge, version)
	}
}
