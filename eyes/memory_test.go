package eyes_test

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubewright/kubewright/eyes"
	"github.com/kubewright/kubewright/internal/bubble"
	gen "github.com/kubewright/kubewright/runtime/gen/informer"
	"github.com/kubewright/kubewright/runtime/queue"
	"github.com/kubewright/kubewright/runtime/runtimetest"
)

// heap returns how many bytes are in use.
func heap() int64 {
	runtime.GC()
	runtime.GC() // The first may leave what has cleanups.
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// TestMemory adds 1,000 informers and queues, which end, and checks that nothing is left of them.
func TestMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := eyes.New(eyes.Options{})
		look := func() {
			for range 3 { // An earlier look is kept, and the one before.
				e.Snapshot()
				bubble.Pass(11 * time.Second)
			}
		}
		runAll(e, "first", look) // What grows once, like maps, isn't counted.
		look()
		before := heap()
		grown := runAll(e, "second", look) - before
		look()
		if left := heap() - before; left > grown/20 {
			t.Errorf("%d KB of %d KB are left", left>>10, grown>>10)
		}
		if s := e.Snapshot(); len(s.Informers)+len(s.Queues) > 0 {
			t.Errorf("%d informers and %d queues are left", len(s.Informers), len(s.Queues))
		}
		runtime.KeepAlive(e)
	})
}

// runAll runs the informers and queues until they were looked at, and returns the heap by then.
func runAll(e *eyes.Eyes, round string, look func()) (bytes int64) {
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	var queues []*queue.Queue[string]
	server := runtimetest.NewServer[corev1.ConfigMap, corev1.ConfigMapList]()
	for n := range 1000 {
		i := gen.NewShared[*corev1.ConfigMap](
			func() gen.ResourceClient[*corev1.ConfigMapList] { return server }, gen.Options{})
		running.Go(func() { i.RunWithContext(ctx) })
		e.AddInformer(fmt.Sprint(round, " informer ", n), i)
		q := queue.New(queue.Config[string]{})
		queues = append(queues, q)
		e.AddQueue(fmt.Sprint(round, " queue ", n), q)
	}
	synctest.Wait()
	look()
	bytes = heap()
	cancel()
	running.Wait()
	for _, q := range queues {
		q.ShutDown()
	}
	return bytes
}

// TestDropped checks that eyes which nothing refers to any more go, with what was added.
func TestDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, caches := eyes.New(eyes.Options{}), &struct{ statuses }{}
		e.AddCaches("shop", caches)
		left := weak.Make(caches)
		bubble.Advance(time.Hour)
		runtime.KeepAlive(e)
		e, caches = nil, nil
		if runtime.GC(); left.Value() != nil {
			t.Error("the caches are left")
		}
	})
}
