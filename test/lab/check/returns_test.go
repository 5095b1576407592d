package check

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"

	"k8s.io/client-go/features"
	clientfeaturestesting "k8s.io/client-go/features/testing"

	"github.com/kubewright/kubewright/internal/bubble"
)

// TestNamespaceReturns checks that a handler of a set of namespaces doesn't go back in time when a namespace
// returns, lists aren't streamed, and the server that answers is behind. See kubernetes#59848.
func TestNamespaceReturns(t *testing.T) {
	clientfeaturestesting.SetFeatureDuringTest(t, features.WatchListClient, false)
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t.Context(), Ours, Script{})
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { w.cluster.Run(ctx) })
		w.put(0)
		w.watch(options{sort: ofSet}, 0)
		set := w.subjects[0].set
		add := func() {
			if err := set.Add("n0"); err != nil {
				t.Error(err)
			}
			bubble.Advance(aMoment)
		}
		add()
		w.cluster.Lag(1)
		w.put(0)
		bubble.Advance(aMoment)
		set.Remove("n0")
		add()
		w.checkEqual()
		w.end(0)
		cancel()
		running.Wait()
		w.proxy.Close()
		if w.violation != nil {
			t.Error(w.violation)
		}
	})
}
