// Package controllerruntime tests the bridge to controller-runtime, which sets client-go's provider. That can
// be set only once in a program.
package controllerruntime

import (
	"testing"

	upstream "k8s.io/client-go/util/workqueue"
	_ "sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	kwprometheus "github.com/kubewright/kubewright/contrib/prometheus"
	"github.com/kubewright/kubewright/contrib/prometheus/bridgetest"
	"github.com/kubewright/kubewright/runtime/workqueue"
)

// TestInformers checks that our informers have metrics; controller-runtime has none for client-go's.
func TestInformers(t *testing.T) {
	kwprometheus.Register(metrics.Registry)
	bridgetest.Informers(t, metrics.Registry, false)
}

func TestBridge(t *testing.T) {
	kwprometheus.Register(metrics.Registry)
	ours := workqueue.NewTypedDelayingQueueWithConfig(
		workqueue.TypedDelayingQueueConfig[string]{Name: "ours"})
	theirs := upstream.NewTypedDelayingQueueWithConfig(
		upstream.TypedDelayingQueueConfig[string]{Name: "theirs"})
	bridgetest.Compare(t, metrics.Registry, ours, theirs)
}
