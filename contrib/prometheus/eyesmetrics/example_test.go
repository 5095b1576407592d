package eyesmetrics_test

import (
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/kubewright/kubewright/contrib/prometheus/eyesmetrics"
	"github.com/kubewright/kubewright/eyes"
	"github.com/kubewright/kubewright/runtime/queue"
)

func Example() {
	e := eyes.New(eyes.Options{})
	e.AddQueue("bakeries", queue.New(queue.Config[string]{}))
	registry := prometheus.NewRegistry()
	registry.MustRegister(eyesmetrics.New(e))
	n, err := testutil.GatherAndCount(registry, "kubewright_queue_ready")
	fmt.Println("queues:", n, err)
	// Output: queues: 1 <nil>
}
