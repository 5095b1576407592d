package kwprometheus_test

import (
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	kwprometheus "github.com/kubewright/kubewright/contrib/prometheus"
	"github.com/kubewright/kubewright/runtime/queue"
)

// depths returns the metric as controller-runtime registers it, in a registry of its own.
func depths(labels ...string) (*prometheus.GaugeVec, *prometheus.Registry) {
	v := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "workqueue_depth", Help: "x"}, labels)
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(v)
	return v, registry
}

func add(q *queue.Queue[int], item, priority int) {
	q.AddWith(item, queue.AddOptions{Priority: &priority})
}

func strict(registry *prometheus.Registry) *queue.Queue[int] {
	metrics := kwprometheus.PriorityMetrics(kwprometheus.NewProvider(registry), "one")
	return queue.New(queue.Config[int]{Ageing: -1, Metrics: metrics})
}

func TestPriorityMetrics(t *testing.T) {
	_, registry := depths("name", "controller", "priority")
	q := strict(registry)
	add(q, 1, 0)
	add(q, 2, -100)
	add(q, 3, -100)
	q.Get()
	add(q, 2, 5)
	want := `
# HELP workqueue_adds_total Items added
# TYPE workqueue_adds_total counter
workqueue_adds_total{name="one"} 3
# HELP workqueue_depth x
# TYPE workqueue_depth gauge
workqueue_depth{controller="one",name="one",priority="-100"} 1
workqueue_depth{controller="one",name="one",priority="0"} 0
workqueue_depth{controller="one",name="one",priority="5"} 1
`
	err := testutil.GatherAndCompare(
		registry, strings.NewReader(want), "workqueue_adds_total", "workqueue_depth")
	if err != nil {
		t.Error(err)
	}
}

// TestDepthWithoutPriorities: all priorities have one value if the registry's metric has no label for them,
// or if the registry has no such metric yet.
func TestDepthWithoutPriorities(t *testing.T) {
	_, older := depths("name", "controller")
	for name, registry := range map[string]*prometheus.Registry{
		"older": older, "empty": prometheus.NewPedanticRegistry(),
	} {
		q := strict(registry)
		add(q, 1, 0)
		add(q, 2, -100)
		families, err := registry.Gather()
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range families {
			if f.GetName() == "workqueue_depth" && (len(f.Metric) != 1 || f.Metric[0].Gauge.GetValue() != 2) {
				t.Errorf("%s: %v", name, f.Metric)
			}
		}
	}
}

// TestManyPriorities: from the 26th on, priorities have one value together. All values are 0 in the end.
func TestManyPriorities(t *testing.T) {
	v, registry := depths("name", "controller", "priority")
	q := strict(registry)
	const items = 40
	for i := range items {
		add(q, i, i)
	}
	rest := v.WithLabelValues("one", "one", "exceeded_cardinality_limit")
	if n, got := testutil.CollectAndCount(v), testutil.ToFloat64(rest); n != 26 || got != items-25 {
		t.Errorf("%d values, %v items beyond the limit", n, got)
	}
	for range items {
		item, _ := q.Get()
		q.Done(item)
	}
	if n, got := testutil.CollectAndCount(v), testutil.ToFloat64(rest); n != 26 || got != 0 {
		t.Errorf("%d values, %v items beyond the limit in an empty queue", n, got)
	}
	if got := testutil.ToFloat64(v.WithLabelValues("one", "one", "24")); got != 0 {
		t.Errorf("%v items of a priority in an empty queue", got)
	}
}
