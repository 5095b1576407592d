package cache

import (
	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/runtime/informer"
)

// SetInformerMetricsProvider makes the informers, stores and queues that are
// created from now on, and that have no provider of their own, use this one, and
// client-go's too, for those whose identity is reserved. Only the first call has
// an effect.
func SetInformerMetricsProvider(metricsProvider InformerMetricsProvider) {
	informer.SetMetricsProvider(metricsProvider)
	cache.SetInformerMetricsProvider(metricsProvider)
}

// SetReflectorMetricsProvider hands the provider to client-go, whose reflectors
// have had no metrics for long; neither have ours.
func SetReflectorMetricsProvider(metricsProvider MetricsProvider) {
	cache.SetReflectorMetricsProvider(metricsProvider)
}

// versionMetric is the gauge of a store's resourceVersion.
type versionMetric struct{ gauge GaugeMetric }

func newVersionMetric(id InformerNameAndResource, given InformerMetricsProvider) versionMetric {
	if provider := informer.MetricsProviderFor(id, given); provider != nil {
		return versionMetric{provider.NewStoreResourceVersionMetric(id)}
	}
	return versionMetric{}
}

func (m versionMetric) set(version string) {
	if m.gauge != nil {
		informer.ShowVersion(m.gauge, version)
	}
}
