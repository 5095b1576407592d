package ownwritesmetrics_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/kubewright/kubewright/contrib/prometheus/ownwritesmetrics"
	"github.com/kubewright/kubewright/runtime/ownwrites"
)

// The metrics of a tracker are in a registry from the start.
func Example() {
	registry := prometheus.NewRegistry()
	tracker := ownwrites.New(ownwrites.Options{Metrics: ownwritesmetrics.New(registry)})
	_ = tracker // for ownwrites.NewQueue
	families, err := registry.Gather()
	for _, family := range families {
		fmt.Println(family.GetName())
	}
	fmt.Println(err)
	// Output:
	// ownwrites_bound_total
	// ownwrites_unknown_total
	// ownwrites_wait_seconds
	// <nil>
}

// TestSeveralTrackers checks that all trackers of a registry count together.
func TestSeveralTrackers(t *testing.T) {
	registry := prometheus.NewPedanticRegistry()
	for range 3 {
		m := ownwritesmetrics.New(registry)
		m.Waits.Observe(.5)
		m.Bound.Inc()
		m.Unknown.Inc()
		m.Unknown.Inc()
	}
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, f := range families {
		m := f.Metric[0]
		got[f.GetName()] = m.Counter.GetValue() + float64(m.Histogram.GetSampleCount())
	}
	want := map[string]float64{
		"ownwrites_bound_total": 3, "ownwrites_unknown_total": 6, "ownwrites_wait_seconds": 3}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%v, want %v", got, want)
	}
	if problems, err := testutil.GatherAndLint(registry); err != nil || len(problems) > 0 {
		t.Errorf("%v, %v", problems, err)
	}
}

// TestOthersMetrics checks that metrics of other kinds under these names are an error.
func TestOthersMetrics(t *testing.T) {
	registry := prometheus.NewRegistry()
	registry.MustRegister(prometheus.NewGauge(prometheus.GaugeOpts{Name: "ownwrites_bound_total", Help: "x"}))
	defer func() {
		if got := fmt.Sprint(recover()); !strings.HasPrefix(got, "ownwritesmetrics: ") {
			t.Errorf("panics with %q", got)
		}
	}()
	ownwritesmetrics.New(registry)
}
