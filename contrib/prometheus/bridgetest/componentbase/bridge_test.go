// Package componentbase tests the bridge to component-base, which sets client-go's provider. That can be set
// only once in a program.
package componentbase

import (
	"testing"

	upstream "k8s.io/client-go/util/workqueue"
	"k8s.io/component-base/metrics/legacyregistry"
	_ "k8s.io/component-base/metrics/prometheus/clientgo/fifo"
	_ "k8s.io/component-base/metrics/prometheus/workqueue"

	kwprometheus "github.com/kubewright/kubewright/contrib/prometheus"
	"github.com/kubewright/kubewright/contrib/prometheus/bridgetest"
	"github.com/kubewright/kubewright/runtime/workqueue"
)

// TestInformers checks that our informers and client-go's are values of the same metrics.
func TestInformers(t *testing.T) {
	kwprometheus.Register(legacyregistry.Registerer())
	bridgetest.Informers(t, legacyregistry.DefaultGatherer, true)
}

func TestBridge(t *testing.T) {
	// Ours registers first: component-base must still be able to register.
	kwprometheus.Register(legacyregistry.Registerer())
	ours := workqueue.NewTypedDelayingQueueWithConfig(
		workqueue.TypedDelayingQueueConfig[string]{Name: "ours"})
	theirs := upstream.NewTypedDelayingQueueWithConfig(
		upstream.TypedDelayingQueueConfig[string]{Name: "theirs"})
	bridgetest.Compare(t, legacyregistry.DefaultGatherer, ours, theirs)
}
