package kwprometheus_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	kwprometheus "github.com/kubewright/kubewright/contrib/prometheus"
	"github.com/kubewright/kubewright/runtime/queue"
	"github.com/kubewright/kubewright/runtime/workqueue"
)

// TestParked checks that queues with a Gate, and no others, have the metrics of items that are held back,
// from the start. They have the labels that the registry's workqueue_depth has, without a priority.
func TestParked(t *testing.T) {
	own := prometheus.NewPedanticRegistry
	_, theirs := depths("name", "controller", "priority")
	for name, test := range map[string]struct {
		registry *prometheus.Registry
		metrics  func(workqueue.MetricsProvider, string) *queue.Metrics
		labels   string
	}{
		"own registry":                {own(), workqueue.NewMetrics, `name="one"`},
		"priorities":                  {own(), kwprometheus.PriorityMetrics, `name="one"`},
		"controller-runtime's":        {theirs, kwprometheus.PriorityMetrics, `controller="one" name="one"`},
		"controller-runtime's, plain": {theirs, workqueue.NewMetrics, `controller="one" name="one"`},
	} {
		t.Run(name, func(t *testing.T) {
			provider := kwprometheus.NewProvider(test.registry)
			check := func(want map[string]float64) {
				t.Helper()
				got, labels := ofGates(t, test.registry)
				if !maps.Equal(got, want) {
					t.Errorf("%v, want %v", got, want)
				}
				for _, l := range labels {
					if l != test.labels {
						t.Errorf("labels %s, want %s", l, test.labels)
					}
				}
			}
			if test.registry != theirs { // Both tests with that registry would see the other's queue.
				queue.New(queue.Config[int]{Metrics: test.metrics(provider, "plain")}).Add(1)
				check(map[string]float64{})
			}
			m := test.metrics(provider, "one")
			before, _ := ofGates(t, test.registry)
			q := queue.New(queue.Config[int]{Metrics: m, Gate: func(item int) bool { return item < 3 }})
			wants := func(parked, released, late, unknown float64) {
				t.Helper()
				check(map[string]float64{
					"workqueue_parked":                  parked,
					"workqueue_parked_duration_seconds": released + before["workqueue_parked_duration_seconds"],
					"workqueue_parked_late_total":       late + before["workqueue_parked_late_total"],
					"workqueue_unknown_writes_total":    unknown + before["workqueue_unknown_writes_total"],
				})
			}
			wants(0, 0, 0, 0)
			for item := range 5 {
				q.Add(item)
			}
			wants(3, 0, 0, 0)
			q.Release(1)
			wants(2, 1, 0, 0)
			q.ReleaseLate(2, "cause")
			wants(1, 2, 1, 0)
			m.UnknownWrites.Inc() // as package ownwrites does
			wants(1, 2, 1, 1)
			q.ShutDown()
			wants(0, 2, 1, 1)
		})
	}
	if problems, err := testutil.GatherAndLint(theirs); err != nil || len(problems) > 0 {
		t.Errorf("%v, %v", problems, err)
	}
}

// ofGates returns the values of the metrics of gates, and their labels. That of a histogram is its count.
func ofGates(t *testing.T, registry *prometheus.Registry) (values map[string]float64, labels []string) {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	values = map[string]float64{}
	for _, f := range families {
		if name := f.GetName(); !strings.Contains(name, "parked") && !strings.Contains(name, "unknown") {
			continue
		}
		for _, m := range f.Metric {
			values[f.GetName()] += m.Gauge.GetValue() + m.Counter.GetValue() +
				float64(m.Histogram.GetSampleCount())
			var pairs []string
			for _, p := range m.Label {
				pairs = append(pairs, fmt.Sprintf("%s=%q", p.GetName(), p.GetValue()))
			}
			labels = append(labels, strings.Join(pairs, " "))
		}
	}
	return values, labels
}
