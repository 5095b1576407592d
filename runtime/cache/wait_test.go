package cache_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr/funcr"
	"k8s.io/klog/v2"

	"github.com/kubewright/kubewright/runtime/cache"
)

// checker is done once its channel is closed.
type checker struct {
	name string
	c    chan struct{}
}

func (c checker) Name() string          { return c.name }
func (c checker) Done() <-chan struct{} { return c.c }

// TestWaitFor checks that WaitFor returns at the moment when the last checker is done.
func TestWaitFor(t *testing.T) {
	for _, what := range []string{"", "something"} {
		synctest.Test(t, func(t *testing.T) {
			a, b := checker{"a", make(chan struct{})}, checker{"b", make(chan struct{})}
			time.AfterFunc(time.Second, func() { close(a.c) })
			time.AfterFunc(2*time.Second, func() { close(b.c) })
			start := time.Now()
			if !cache.WaitFor(t.Context(), what, a, b) || time.Since(start) != 2*time.Second {
				t.Errorf("waited %v", time.Since(start))
			}
			if !cache.IsDone(a) || cache.IsDone(checker{c: make(chan struct{})}) {
				t.Error("IsDone")
			}
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			if cache.WaitFor(ctx, what, checker{"c", make(chan struct{})}, a) {
				t.Error("returned true for a checker that is never done")
			}
			if !cache.WaitFor(ctx, what, a, b) {
				t.Error("what is done was not awaited")
			}
		})
	}
	if !cache.WaitFor(t.Context(), "") {
		t.Error("nothing to wait for")
	}
}

// TestWaitForLogsWhatIsDone checks that WaitFor logs a checker as done that was done before the context.
func TestWaitForLogsWhatIsDone(t *testing.T) {
	logged := 0
	logger := funcr.New(func(_, line string) {
		if strings.Contains(line, `"Done waiting"`) {
			logged++
		}
	}, funcr.Options{})
	ctx, cancel := context.WithCancel(klog.NewContext(t.Context(), logger))
	cancel()
	done := checker{"a", make(chan struct{})}
	close(done.c)
	for range 100 { // A single run may pass by chance.
		cache.WaitFor(ctx, "something", done)
	}
	if logged != 100 {
		t.Errorf("logged %d times of 100", logged)
	}
}

func TestWaitForCacheSync(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		never := func() bool { return false }
		stop := make(chan struct{})
		close(stop)
		start := time.Now()
		synced := func() bool { return time.Since(start) >= 250*time.Millisecond }
		if cache.WaitForCacheSync(stop, synced) || cache.WaitForNamedCacheSync("c", stop, never) {
			t.Error("true after stop")
		}
		if !cache.WaitForCacheSync(stop, func() bool { return true }) {
			t.Error("what has synced hasn't")
		}
		if !cache.WaitForNamedCacheSync("c", nil, synced) || time.Since(start) != 300*time.Millisecond {
			t.Errorf("waited %v", time.Since(start))
		}
		if !cache.WaitForNamedCacheSyncWithContext(t.Context(), synced) {
			t.Error("what has synced hasn't")
		}
	})
}
