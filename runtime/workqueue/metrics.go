package workqueue

import (
	"sync"

	"k8s.io/client-go/util/workqueue"

	"github.com/kubewright/kubewright/runtime/queue"
)

// The metric interfaces are client-go's.
type (
	// MetricsProvider makes the seven metrics of a queue of this name.
	MetricsProvider = workqueue.MetricsProvider
	// GaugeMetric goes up and down.
	GaugeMetric = workqueue.GaugeMetric
	// SettableGaugeMetric is set.
	SettableGaugeMetric = workqueue.SettableGaugeMetric
	// CounterMetric only goes up.
	CounterMetric = workqueue.CounterMetric
	// SummaryMetric takes single observations.
	SummaryMetric = workqueue.SummaryMetric
	// HistogramMetric takes single observations.
	HistogramMetric = workqueue.HistogramMetric
)

var global struct {
	once     sync.Once
	mu       sync.Mutex
	provider MetricsProvider
}

// SetProvider makes the queues that are created from now on, and that have no
// provider of their own, use this one. Only the first call has an effect.
func SetProvider(metricsProvider MetricsProvider) {
	global.once.Do(func() {
		global.mu.Lock()
		defer global.mu.Unlock()
		global.provider = metricsProvider
	})
}

// providerOf returns the provider of a queue with a name, which is that of
// SetProvider unless it was given another: nil when it has none, or no name.
func providerOf(provider MetricsProvider, name string) MetricsProvider {
	if name == "" {
		return nil
	}
	if provider != nil {
		return provider
	}
	global.mu.Lock()
	defer global.mu.Unlock()
	return global.provider
}

// Metrics makes the metrics of a queue with a name, for the Config of
// [queue.New]. A nil provider is that of SetProvider. Without a name or a
// provider it returns nil.
func Metrics(provider MetricsProvider, name string) *queue.Metrics {
	m := plainMetrics(provider, name)
	if m != nil {
		m.Retries = retriesMetric(provider, name)
	}
	return m
}

// plainMetrics makes the metrics of a queue that counts no retries, nil when
// there is no name or no provider.
func plainMetrics(provider MetricsProvider, name string) *queue.Metrics {
	provider = providerOf(provider, name)
	if provider == nil {
		return nil
	}
	return &queue.Metrics{
		Depth:          provider.NewDepthMetric(name),
		Adds:           provider.NewAddsMetric(name),
		Latency:        provider.NewLatencyMetric(name),
		WorkDuration:   provider.NewWorkDurationMetric(name),
		UnfinishedWork: provider.NewUnfinishedWorkSecondsMetric(name),
		LongestRunning: provider.NewLongestRunningProcessorSecondsMetric(name),
		Retries:        ignored{},
	}
}

// retriesMetric makes the seventh metric, which delaying queues have.
func retriesMetric(provider MetricsProvider, name string) CounterMetric {
	provider = providerOf(provider, name)
	if provider == nil {
		return ignored{}
	}
	return provider.NewRetriesMetric(name)
}

type ignored struct{}

func (ignored) Inc() {}
