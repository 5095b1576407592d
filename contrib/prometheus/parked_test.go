package kwprometheus_test

import (
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	kwprometheus "github.com/kubewright/kubewright/contrib/prometheus"
	"github.com/kubewright/kubewright/runtime/queue"
	"github.com/kubewright/kubewright/runtime/workqueue"
)

// TestParked checks that queues with a Gate, and no others, have workqueue_parked, from the start. It has the
// labels that the registry's workqueue_depth has, without a priority.
func TestParked(t *testing.T) {
	const head = "# HELP workqueue_parked " +
		"Items that the queue's gate holds back; workqueue_depth includes them\n" +
		"# TYPE workqueue_parked gauge\n"
	own := prometheus.NewPedanticRegistry
	_, theirs := depths("name", "controller", "priority")
	for name, test := range map[string]struct {
		registry *prometheus.Registry
		metrics  func(workqueue.MetricsProvider, string) *queue.Metrics
		labels   string
	}{
		"own registry":                {own(), workqueue.NewMetrics, `name="one"`},
		"priorities":                  {own(), kwprometheus.PriorityMetrics, `name="one"`},
		"controller-runtime's":        {theirs, kwprometheus.PriorityMetrics, `controller="one",name="one"`},
		"controller-runtime's, plain": {theirs, workqueue.NewMetrics, `controller="one",name="one"`},
	} {
		t.Run(name, func(t *testing.T) {
			provider := kwprometheus.NewProvider(test.registry)
			check := func(want string) {
				t.Helper()
				if want != "" {
					want = head + "workqueue_parked{" + test.labels + "} " + want + "\n"
				}
				if err := testutil.GatherAndCompare(
					test.registry, strings.NewReader(want), "workqueue_parked"); err != nil {
					t.Error(err)
				}
			}
			if test.registry != theirs { // Both tests with that registry would see the other's queue.
				queue.New(queue.Config[int]{Metrics: test.metrics(provider, "plain")}).Add(1)
				check("")
			}
			q := queue.New(queue.Config[int]{
				Metrics: test.metrics(provider, "one"), Gate: func(item int) bool { return item < 3 }})
			check("0")
			for item := range 5 {
				q.Add(item)
			}
			check("3")
			q.Release(1)
			check("2")
			q.ShutDown()
			check("0")
		})
	}
}
