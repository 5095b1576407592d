package runtimetest

import "k8s.io/client-go/tools/cache"

// NoMetrics is a provider of informer metrics that do nothing. Embed it in a provider of only some metrics:
// NoMetrics will get the methods that client-go adds to its interface. It is safe for concurrent use.
type NoMetrics struct{}

var _ cache.InformerMetricsProvider = NoMetrics{}

// NewQueuedItemMetric returns a metric that does nothing.
func (NoMetrics) NewQueuedItemMetric(cache.InformerNameAndResource) cache.GaugeMetric {
	return noMetric{}
}

// NewProcessingLatencyMetric returns a metric that does nothing.
func (NoMetrics) NewProcessingLatencyMetric(cache.InformerNameAndResource) cache.HistogramMetric {
	return noMetric{}
}

// NewStoreResourceVersionMetric returns a metric that does nothing.
func (NoMetrics) NewStoreResourceVersionMetric(cache.InformerNameAndResource) cache.GaugeMetric {
	return noMetric{}
}

// noMetric is a metric that does nothing.
type noMetric struct{}

func (noMetric) Set(float64)     {}
func (noMetric) Observe(float64) {}
