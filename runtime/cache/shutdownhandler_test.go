package cache_test

import (
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr/funcr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"

	"github.com/kubewright/kubewright/internal/bubble"
	"github.com/kubewright/kubewright/runtime/cache"
)

// stuck is a handler that waits.
type stuck struct {
	cache.ResourceEventHandlerFuncs
	until chan struct{}
}

func (s stuck) OnAdd(any, bool) { <-s.until }

// TestShutDownEventHandlerNamesTheHandler checks that a wait for a handler is logged, once, after 10 s.
func TestShutDownEventHandlerNamesTheHandler(t *testing.T) {
	var logged atomic.Int32
	klog.SetLogger(funcr.New(func(_, line string) {
		if strings.Contains(line, "cache_test.stuck") {
			logged.Add(1)
		}
	}, funcr.Options{}))
	defer klog.ClearLogger()
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		s.Create(pod("x", "a", ""))
		i := cache.NewSharedInformer(s.ListerWatcher(), &corev1.Pod{}, 0)
		h := stuck{until: make(chan struct{})}
		handle, err := i.AddEventHandler(h)
		if err != nil {
			t.Fatal(err)
		}
		stop := running(t, i.RunWithContext)
		ended := make(chan error)
		go func() { ended <- cache.ShutDownEventHandler(i, handle) }()
		bubble.Advance(9 * time.Second)
		if logged.Load() != 0 {
			t.Error("too early")
		}
		bubble.Advance(time.Minute)
		if logged.Load() != 1 {
			t.Errorf("logged %d times", logged.Load())
		}
		close(h.until)
		if err := <-ended; err != nil {
			t.Error(err)
		}
		stop()
	})
}
