package bubble

import (
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestTimePasses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		var late atomic.Bool
		time.AfterFunc(2*time.Hour, func() { late.Store(true) })
		var group sync.WaitGroup
		for range 2 {
			group.Go(func() { Pass(time.Hour) })
		}
		group.Wait()
		if took := time.Since(start); took != time.Hour || late.Load() {
			t.Errorf("%v passed, and what is due in two hours came: %v", took, late.Load())
		}
		Advance(time.Hour)
		if !late.Load() {
			t.Error("what was due did not come")
		}
	})
}

func TestTheRealClockIsRefused(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	Pass(time.Nanosecond)
}
