package deltafifo

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
)

// ended returns a context that is done.
func ended(t *testing.T) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}

func TestPopBatchBlocksUntilThereIsSomething(t *testing.T) {
	for what, c := range map[string]struct {
		release func(*DeltaFIFO[int], context.CancelFunc)
		want    error
	}{
		"a change": {func(f *DeltaFIFO[int], _ context.CancelFunc) {
			f.Append(Added, 1, 1, "1")
		}, nil},
		"a resync": {func(f *DeltaFIFO[int], _ context.CancelFunc) { f.SyncAll() }, nil},
		"the end of the wait": {func(_ *DeltaFIFO[int], cancel context.CancelFunc) { cancel() },
			context.Canceled},
	} {
		t.Run("ended by "+what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				f := New[int]()
				result := make(chan error, 1)
				go func() { _, err := f.PopBatch(ctx); result <- err }()
				synctest.Wait()
				select {
				case err := <-result:
					t.Fatalf("it did not wait: %v", err)
				default:
				}
				c.release(f, cancel)
				if err := <-result; !errors.Is(err, c.want) {
					t.Fatalf("%v, want %v", err, c.want)
				}
			})
		})
	}
}

// TestEachChangeWakes waits for each of a few changes, also for changes that fit into a buffer that was used
// before.
func TestEachChangeWakes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := New[int]()
		for i := range 8 {
			result := make(chan int)
			go func() {
				batch, _ := f.PopBatch(t.Context())
				result <- len(batch)
			}()
			synctest.Wait()
			f.Append(Updated, i, i, "1")
			if n := <-result; n != 1 {
				t.Fatalf("%d deltas, want one", n)
			}
		}
	})
}

// TestAStaleWakeUp checks a wait that ends with its context after it was woken: the next wait must not take
// the wake-up for a change.
func TestAStaleWakeUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := New[int]()
		ctx, cancel := context.WithCancel(t.Context())
		result := make(chan error)
		pop := func(ctx context.Context) { _, err := f.PopBatch(ctx); result <- err }
		go pop(ctx)
		synctest.Wait()
		f.mu.Lock() // the woken wait can't continue before its context is done
		f.signal()
		cancel()
		f.mu.Unlock()
		if err := <-result; !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		go pop(t.Context())
		synctest.Wait()
		f.Append(Added, 1, 1, "1")
		if err := <-result; err != nil {
			t.Fatal(err)
		}
	})
}

// TestConcurrentPopBatch checks that a consumer that runs concurrently with its producers receives all
// deltas, in each producer's order.
func TestConcurrentPopBatch(t *testing.T) {
	const producers, each = 4, 5000
	f := New[int]()
	var producing sync.WaitGroup
	for p := range producers {
		producing.Go(func() {
			for i := range each {
				f.Append(Updated, p, i, "")
			}
		})
	}
	var next [producers]int
	for taken := 0; taken < producers*each; {
		batch, err := f.PopBatch(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range batch {
			if d.Object != next[d.Key] {
				t.Fatalf("producer %d: %d, want %d", d.Key, d.Object, next[d.Key])
			}
			next[d.Key]++
		}
		taken += len(batch)
	}
	producing.Wait()
	if n := f.Len(); n != 0 {
		t.Fatalf("%d deltas are left", n)
	}
}

func TestPopBatchReusesItsBuffers(t *testing.T) {
	f := New[int]()
	var object any = 1
	allocs := testing.AllocsPerRun(100, func() {
		for i := range 50 {
			f.Append(Updated, i, object, "1")
		}
		if batch, err := f.PopBatch(context.Background()); len(batch) != 50 || err != nil {
			t.Fatal(batch, err)
		}
	})
	if allocs != 0 {
		t.Errorf("%v allocations, want none", allocs)
	}
}

// TestABatchIsLetGo checks that the objects of a batch aren't reachable any more once it is given back.
func TestABatchIsLetGo(t *testing.T) {
	const objects = 100
	f := New[int]()
	var freed atomic.Int64
	object := func() *[2]int {
		object := new([2]int)
		runtime.AddCleanup(object, func(struct{}) { freed.Add(1) }, struct{}{})
		return object
	}
	for i := range objects {
		f.Append(Updated, i, object(), "1")
	}
	if batch, err := f.PopBatch(t.Context()); len(batch) != objects || err != nil {
		t.Fatalf("%d deltas, %v", len(batch), err)
	}
	if _, err := f.PopBatch(ended(t)); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	for range 100 {
		if runtime.GC(); freed.Load() == objects {
			break
		}
		runtime.Gosched()
	}
	if n := freed.Load(); n != objects {
		t.Errorf("%d of %d objects are free", n, objects)
	}
	runtime.KeepAlive(f)
}

// TestABurstsBufferIsLetGo checks that the buffers are small again soon after a burst for which one or both
// had to grow.
func TestABurstsBufferIsLetGo(t *testing.T) {
	for _, first := range []int{1, 2 * keepBuffer} {
		f := New[int]()
		add := func(n int) {
			for i := range n {
				f.Append(Updated, i, nil, "1")
			}
			if batch, err := f.PopBatch(t.Context()); len(batch) != n || err != nil {
				t.Fatalf("%d deltas, %v, want %d", len(batch), err, n)
			}
		}
		add(first)
		add(100_000)
		for range 3 * keepBatches {
			add(1)
		}
		if n := cap(f.pending) + cap(f.lent); n > 2*keepBuffer {
			t.Errorf("after %d deltas and a burst there is room for %d", first, n)
		}
	}
}

// TestAPanicLeavesNoLock pops without a context, which panics.
func TestAPanicLeavesNoLock(t *testing.T) {
	f := New[int]()
	func() {
		defer func() {
			if recover() == nil {
				t.Error("no panic")
			}
		}()
		var none context.Context
		_, _ = f.PopBatch(none)
	}()
	if !f.mu.TryLock() {
		t.Fatal("it is locked")
	}
	f.mu.Unlock()
}

func TestNames(t *testing.T) {
	for deltaType, want := range map[DeltaType]string{
		Added: "Added", Updated: "Updated", Deleted: "Deleted",
		ReplacedAll: "ReplacedAll", SyncAll: "SyncAll", Bookmark: "Bookmark", Call: "Call",
		0: "", Call + 1: "", 255: "",
	} {
		if got := deltaType.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
