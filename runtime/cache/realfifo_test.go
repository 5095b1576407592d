package cache_test

import (
	"sync"
	"testing"
	"testing/synctest"

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

// The consumer that is in the middle of something keeps lists waiting, unless it
// said that they needn't.
func TestLockWhileProcessing(t *testing.T) {
	for _, unlocked := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			f := cache.NewRealFIFOWithOptions(cache.RealFIFOOptions{AtomicEvents: true, UnlockWhileProcessing: unlocked})
			_ = f.Add(pod("x", "a", "1"))
			release := make(chan struct{})
			added := make(chan struct{})
			var working sync.WaitGroup
			working.Go(func() {
				_, _ = f.Pop(func(any, bool) error {
					working.Go(func() {
						_ = f.Add(pod("x", "b", "2"))
						close(added)
					})
					<-release
					return nil
				})
			})
			if unlocked {
				<-added
			}
			close(release)
			working.Wait()
			<-added
		})
	}
}
