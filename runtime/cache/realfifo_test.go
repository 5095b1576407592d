package cache_test

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/kubewright/kubewright/runtime/cache"
)

func TestRealFIFOOptionsThatContradict(t *testing.T) {
	for _, o := range []cache.RealFIFOOptions{
		{}, {AtomicEvents: true, KnownObjects: newKnown()},
		{KnownObjects: newKnown(), UnlockWhileProcessing: true},
		{KnownObjects: newKnown(), EmitDeltaTypeBookmark: true},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%+v were accepted", o)
				}
			}()
			cache.NewRealFIFOWithOptions(o)
		}()
	}
}

// The consumer that is in the middle of something keeps others waiting who add,
// unless it said that they needn't.
func TestLockWhileProcessing(t *testing.T) {
	for _, unlocked := range []bool{false, true} {
		f := cache.NewRealFIFOWithOptions(cache.RealFIFOOptions{AtomicEvents: true, UnlockWhileProcessing: unlocked})
		_ = f.Add(pod("x", "a", "1"))
		var adding sync.WaitGroup
		var processing, overtook atomic.Bool
		_, _ = f.Pop(func(any, bool) error {
			processing.Store(true)
			defer processing.Store(false)
			added := make(chan struct{})
			adding.Go(func() {
				defer close(added)
				_ = f.Add(pod("x", "b", "2"))
				overtook.Store(processing.Load())
			})
			if unlocked {
				<-added
				return nil
			}
			// Who waits for a mutex can't be waited for: this is its chance not to.
			for range 1000 {
				runtime.Gosched()
			}
			return nil
		})
		adding.Wait()
		if overtook.Load() != unlocked {
			t.Errorf("unlocked %t: added while something was processed: %t", unlocked, overtook.Load())
		}
	}
}
