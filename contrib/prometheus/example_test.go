package kwprometheus_test

import (
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	kwprometheus "github.com/kubewright/kubewright/contrib/prometheus"
	"github.com/kubewright/kubewright/runtime/workqueue"
)

// One call gives every queue that has a name its metrics, under client-go's names. A program passes
// prometheus.DefaultRegisterer, or the registry that it serves.
func Example() {
	registry := prometheus.NewRegistry()
	kwprometheus.Register(registry)
	q := workqueue.NewTypedRateLimitingQueueWithConfig(workqueue.DefaultTypedControllerRateLimiter[string](),
		workqueue.TypedRateLimitingQueueConfig[string]{Name: "deployments"})
	defer q.ShutDown()
	q.Add("default/web")
	n, err := testutil.GatherAndCount(registry, "workqueue_depth")
	fmt.Println("queues with a depth:", n, err)
	// Output: queues with a depth: 1 <nil>
}
