// Package ownwritesmetrics has Prometheus metrics of the trackers of package ownwrites:
//
//	ownwrites_wait_seconds
//	ownwrites_bound_total
//	ownwrites_unknown_total
//
// The keys that wait now are workqueue_parked, by queue: see package kwprometheus.
package ownwritesmetrics

import (
	"errors"
	"fmt"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/kubewright/kubewright/runtime/ownwrites"
)

// New returns the metrics of a tracker, in a registry:
//
//	tracker := ownwrites.New(ownwrites.Options{Metrics: ownwritesmetrics.New(prometheus.DefaultRegisterer)})
//
// The trackers of a registry have them together. New panics if the registry has other metrics of these names.
func New(registerer prometheus.Registerer) *ownwrites.Metrics {
	counter := func(name, help string) prometheus.Counter {
		return register(registerer, prometheus.NewCounter(
			prometheus.CounterOpts{Subsystem: "ownwrites", Name: name, Help: help}))
	}
	return &ownwrites.Metrics{
		Waits: register(registerer, prometheus.NewHistogram(prometheus.HistogramOpts{
			Subsystem: "ownwrites", Name: "wait_seconds",
			Help: "How long keys were held back because a cache didn't show their own writes, in seconds; " +
				"keys that weren't held back don't count",
			// 1 ms to 33 s: the bound is 10 s by default.
			Buckets: prometheus.ExponentialBuckets(0.001, 2, 16),
		})),
		Bound: counter("bound_total",
			"Keys that were handed out though a cache didn't show their own writes, because they had waited "+
				"for long enough"),
		Unknown: counter("unknown_total",
			"Reconciles whose keys don't wait for a write because its answer was lost"),
	}
}

// register registers a metric, or returns the one that is registered under its name.
func register[M prometheus.Collector](registerer prometheus.Registerer, m M) M {
	err := registerer.Register(m)
	if err == nil {
		return m
	}
	var already prometheus.AlreadyRegisteredError
	if errors.As(err, &already) {
		if there, ok := already.ExistingCollector.(M); ok {
			return there
		}
	}
	panic(fmt.Sprintf("ownwritesmetrics: %v", err))
}
