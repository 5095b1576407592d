package workqueue

import (
	"sync/atomic"

	"k8s.io/utils/ptr"

	"github.com/kubewright/kubewright/runtime/queue"
)

var global atomic.Pointer[MetricsProvider]

// SetProvider sets the provider of all queues that are created after the call and have none of their
// own. Only the first call has an effect. This package can't read a provider that was given to
// client-go's SetProvider: package contrib/prometheus connects both.
func SetProvider(metricsProvider MetricsProvider) {
	global.CompareAndSwap(nil, &metricsProvider)
}

// providerOf returns the provider for a queue: the one given, or else the one of SetProvider. It
// returns nil when there is neither, and when the queue has no name.
func providerOf(provider MetricsProvider, name string) MetricsProvider {
	if name == "" {
		return nil
	}
	if provider != nil {
		return provider
	}
	return ptr.Deref(global.Load(), nil)
}

// NewMetrics makes the metrics of the queue with that name, for the Config of [queue.New]. A nil provider
// stands for the one of SetProvider. Without a name or a provider it returns nil: no metrics. A
// provider with the method SetGateMetrics(m *queue.Metrics, name string), as that of contrib/prometheus, sets
// the metrics of a queue with a Gate by it.
func NewMetrics(provider MetricsProvider, name string) *queue.Metrics {
	m := plainMetrics(provider, name)
	if m != nil {
		m.Retries = retriesMetric(provider, name)
	}
	return m
}

// plainMetrics makes the metrics of a queue that can't delay and so has no retries. It returns nil
// when there is no name or no provider.
func plainMetrics(provider MetricsProvider, name string) *queue.Metrics {
	provider = providerOf(provider, name)
	if provider == nil {
		return nil
	}
	m := &queue.Metrics{
		Depth:          provider.NewDepthMetric(name),
		Adds:           provider.NewAddsMetric(name),
		Latency:        provider.NewLatencyMetric(name),
		WorkDuration:   provider.NewWorkDurationMetric(name),
		UnfinishedWork: provider.NewUnfinishedWorkSecondsMetric(name),
		LongestRunning: provider.NewLongestRunningProcessorSecondsMetric(name),
		Retries:        noMetric{},
	}
	if p, ok := provider.(interface {
		SetGateMetrics(m *queue.Metrics, name string)
	}); ok {
		p.SetGateMetrics(m, name)
	}
	return m
}

// retriesMetric makes the metric that only delaying queues have.
func retriesMetric(provider MetricsProvider, name string) CounterMetric {
	provider = providerOf(provider, name)
	if provider == nil {
		return noMetric{}
	}
	return provider.NewRetriesMetric(name)
}

type noMetric struct{}

func (noMetric) Inc() {}
