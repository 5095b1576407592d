package synctrack_test

import (
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"

	"github.com/kubewright/kubewright/runtime/cache/synctrack"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// tracker is either of the trackers, for work by number.
type tracker interface {
	HasSynced() bool
	Done() <-chan struct{}
	UpstreamHasSynced()
	Name() string
}

func each(t *testing.T, f func(t *testing.T, tr tracker, start, finish func(int))) {
	t.Run("async", func(t *testing.T) {
		tr := synctrack.NewAsyncTracker[int]("async")
		f(t, tr, tr.Start, tr.Finished)
	})
	t.Run("single file", func(t *testing.T) {
		tr := synctrack.NewSingleFileTracker("single file")
		f(t, tr, func(int) { tr.Start() }, func(int) { tr.Finished() })
	})
}

func TestSynced(t *testing.T) {
	each(t, func(t *testing.T, tr tracker, start, finish func(int)) {
		check := func(want bool) {
			t.Helper()
			select {
			case <-tr.Done():
				if !want {
					t.Error("done")
				}
			default:
				if want {
					t.Error("not done")
				}
			}
			if tr.HasSynced() != want {
				t.Errorf("synced %t", !want)
			}
		}
		check(false)
		start(1)
		finish(1)
		start(2)
		tr.UpstreamHasSynced()
		check(false)
		finish(2)
		check(true)
		start(3)
		tr.UpstreamHasSynced()
		check(true)
		finish(3)
		check(true)
	})
	each(t, func(t *testing.T, tr tracker, _, _ func(int)) {
		tr.UpstreamHasSynced()
		if !tr.HasSynced() {
			t.Error("an empty list isn't synced")
		}
	})
}

// However the work is spread, it is synced at the end and not before.
func TestConcurrently(t *testing.T) {
	each(t, func(t *testing.T, tr tracker, start, finish func(int)) {
		const n = 200
		var working sync.WaitGroup
		var left atomic.Int64
		left.Store(n)
		for _, i := range rand.Perm(n) {
			start(i)
			working.Go(func() {
				if tr.HasSynced() {
					t.Error("synced before the end")
				}
				left.Add(-1)
				finish(i)
			})
		}
		tr.UpstreamHasSynced()
		<-tr.Done()
		if left.Load() != 0 {
			t.Errorf("%d left", left.Load())
		}
		working.Wait()
	})
}

func TestTooManyFinished(t *testing.T) {
	synctrack.NewAsyncTracker[int]("").Finished(1)
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	synctrack.NewSingleFileTracker("").Finished()
}

func TestLazy(t *testing.T) {
	calls := 0
	fail := errors.New("no")
	z := synctrack.Lazy[int]{Evaluate: func() (int, error) {
		if calls++; calls == 1 {
			return 0, fail
		}
		return calls, nil
	}}
	for _, want := range []int{0, 2, 2} {
		if got, err := z.Get(); got != want || (err == nil) != (want > 0) {
			t.Errorf("%d, %v, want %d", got, err, want)
		}
	}
	z.Notify()
	if got, _ := z.Get(); got != 3 {
		t.Errorf("%d after a change", got)
	}
}

// A value that is seen after Notify was computed after it.
func TestLazyIsFresh(t *testing.T) {
	var written atomic.Int64
	z := synctrack.Lazy[int64]{Evaluate: func() (int64, error) { return written.Load(), nil }}
	var reading sync.WaitGroup
	for range 4 {
		reading.Go(func() {
			for range 1000 {
				least := written.Load()
				z.Notify()
				if got, _ := z.Get(); got < least {
					t.Errorf("%d, written was %d", got, least)
				}
				written.Add(1)
			}
		})
	}
	reading.Wait()
}
