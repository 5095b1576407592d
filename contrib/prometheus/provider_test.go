package kwprometheus_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"go.uber.org/goleak"

	kwprometheus "github.com/kubewright/kubewright/contrib/prometheus"
	"github.com/kubewright/kubewright/runtime/workqueue"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// use puts an item through a queue of this name and leaves another one ready.
func use(provider workqueue.MetricsProvider, name string) {
	q := workqueue.NewTypedRateLimitingQueueWithConfig(workqueue.DefaultTypedControllerRateLimiter[string](),
		workqueue.TypedRateLimitingQueueConfig[string]{Name: name, MetricsProvider: provider})
	q.AddAfter("a", 0)
	item, _ := q.Get()
	q.Done(item)
	q.Add("b")
	q.ShutDown()
}

func TestProvider(t *testing.T) {
	registry := prometheus.NewPedanticRegistry()
	provider := kwprometheus.NewProvider(registry)
	if families, _ := registry.Gather(); len(families) != 0 {
		t.Errorf("%d metrics before there is a queue", len(families))
	}
	use(provider, "one")
	use(provider, "two")
	use(kwprometheus.NewProvider(registry), "two") // joins the other provider
	want := `
# HELP workqueue_adds_total Items added
# TYPE workqueue_adds_total counter
workqueue_adds_total{name="one"} 2
workqueue_adds_total{name="two"} 4
# HELP workqueue_depth Items that were added and not yet taken by a worker
# TYPE workqueue_depth gauge
workqueue_depth{name="one"} 1
workqueue_depth{name="two"} 2
# HELP workqueue_retries_total Items added with a delay
# TYPE workqueue_retries_total counter
workqueue_retries_total{name="one"} 1
workqueue_retries_total{name="two"} 2
`
	if err := testutil.GatherAndCompare(registry, strings.NewReader(want), "workqueue_depth",
		"workqueue_adds_total", "workqueue_retries_total"); err != nil {
		t.Error(err)
	}
	for _, name := range []string{
		"workqueue_queue_duration_seconds", "workqueue_work_duration_seconds",
		"workqueue_unfinished_work_seconds", "workqueue_longest_running_processor_seconds",
	} {
		if n, err := testutil.GatherAndCount(registry, name); n != 2 || err != nil {
			t.Errorf("%s has %d values, %v", name, n, err)
		}
	}
}

// TestStrangers checks that creating a queue panics if the registry has a metric of another kind under one of
// our names.
func TestStrangers(t *testing.T) {
	for name, stranger := range map[string]prometheus.Collector{
		"kind": prometheus.NewCounterVec(prometheus.CounterOpts{Name: "workqueue_depth", Help: "x"},
			[]string{"name"}),
		"labels": prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "workqueue_depth", Help: "x"},
			[]string{"queue"}),
		"single": prometheus.NewGauge(prometheus.GaugeOpts{Name: "workqueue_depth", Help: "x"}),
	} {
		t.Run(name, func(t *testing.T) {
			registry := prometheus.NewRegistry()
			registry.MustRegister(stranger)
			provider := kwprometheus.NewProvider(registry)
			for range 2 {
				got := func() (v any) {
					defer func() { v = recover() }()
					use(provider, "one")
					return
				}()
				if got := fmt.Sprint(got); !strings.HasPrefix(got, "kwprometheus: ") {
					t.Errorf("panics with %q", got)
				}
			}
		})
	}
}

// TestPrefix registers through a registerer that can't list its metrics.
func TestPrefix(t *testing.T) {
	registry := prometheus.NewRegistry()
	for _, name := range []string{"one", "two"} {
		use(kwprometheus.NewProvider(prometheus.WrapRegistererWithPrefix("my_", registry)), name)
	}
	if n, err := testutil.GatherAndCount(registry, "my_workqueue_depth"); n != 2 || err != nil {
		t.Errorf("%d values, %v", n, err)
	}
}
