// Package clientgo tests that our providers also serve client-go, whose provider can be set only once in a
// program.
package clientgo

import (
	"fmt"
	"sync"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/client-go/tools/cache"
	upstream "k8s.io/client-go/util/workqueue"

	kwprometheus "github.com/kubewright/kubewright/contrib/prometheus"
	"github.com/kubewright/kubewright/contrib/prometheus/bridgetest"
	"github.com/kubewright/kubewright/runtime/workqueue"
)

func TestProvidersOfClientGo(t *testing.T) {
	registry := prometheus.NewRegistry()
	upstream.SetProvider(kwprometheus.NewProvider(registry))
	cache.SetInformerMetricsProvider(kwprometheus.NewInformerProvider(registry))
	kwprometheus.Register(registry)
	// Any of these queues may be the first.
	var all sync.WaitGroup
	for i := range 16 {
		all.Go(func() {
			if i%2 == 0 {
				upstream.NewTypedWithConfig(upstream.TypedQueueConfig[int]{Name: fmt.Sprint(i)}).ShutDown()
			} else {
				workqueue.NewTypedWithConfig(workqueue.TypedQueueConfig[int]{Name: fmt.Sprint(i)}).ShutDown()
			}
		})
	}
	all.Wait()
	ours := workqueue.NewTypedDelayingQueueWithConfig(
		workqueue.TypedDelayingQueueConfig[string]{Name: "ours"})
	theirs := upstream.NewTypedDelayingQueueWithConfig(
		upstream.TypedDelayingQueueConfig[string]{Name: "theirs"})
	bridgetest.Compare(t, registry, ours, theirs)
	bridgetest.Informers(t, registry, true)
}
