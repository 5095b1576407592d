package eyes_test

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/eyes"
	"github.com/kubewright/kubewright/internal/bubble"
	gen "github.com/kubewright/kubewright/runtime/gen/informer"
	"github.com/kubewright/kubewright/runtime/queue"
	"github.com/kubewright/kubewright/runtime/runtimetest"
)

// racing means that the race detector is on.
var racing bool

// crowd returns eyes on 200 informers with two handlers each, and on 100 queues. All end with the test.
func crowd(t testing.TB) *eyes.Eyes {
	e := eyes.New(eyes.Options{})
	server := runtimetest.NewServer[corev1.ConfigMap, corev1.ConfigMapList]()
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	t.Cleanup(func() {
		cancel()
		running.Wait()
	})
	for n := range 200 {
		i := gen.NewShared[*corev1.ConfigMap](
			func() gen.ResourceClient[*corev1.ConfigMapList] { return server }, gen.Options{})
		for range 2 {
			if _, err := i.AddEventHandler(cache.ResourceEventHandlerFuncs{}); err != nil {
				t.Fatal(err)
			}
		}
		running.Go(func() { i.RunWithContext(ctx) })
		<-i.HasSyncedChecker().Done()
		e.AddInformer(fmt.Sprint("informer ", n), i)
	}
	for n := range 100 {
		q := queue.New(queue.Config[string]{})
		t.Cleanup(q.ShutDown)
		e.AddQueue(fmt.Sprint("queue ", n), q)
	}
	return e
}

// TestPrice checks that a look at them allocates at most 300 KB.
func TestPrice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := crowd(t)
		synctest.Wait()
		for range 2 { // The first look makes informers count, and tells later ones how many there are.
			e.Snapshot()
			bubble.Pass(11 * time.Second)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		s := e.Snapshot()
		runtime.ReadMemStats(&after)
		limit := uint64(300)
		if racing { // Pools then drop what they have.
			limit = 400
		}
		if got := (after.TotalAlloc - before.TotalAlloc) >> 10; got > limit || len(s.Informers) != 200 {
			t.Errorf("a look at %d informers allocates %d KB", len(s.Informers), got)
		}
	})
}

// BenchmarkLook is a look at them.
func BenchmarkLook(b *testing.B) {
	e := crowd(b)
	b.ReportAllocs()
	for b.Loop() {
		e.Snapshot()
	}
}
