package deltafifo

import (
	"context"
	"errors"
	"runtime"
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

// TestEachChangeWakes waits for each of a few changes, also for those that have
// room in a buffer that was used before.
func TestEachChangeWakes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := New(identity)
		for i := range 8 {
			result := make(chan int)
			go func() {
				batch, _ := f.PopBatch(t.Context())
				result <- len(batch)
			}()
			synctest.Wait()
			f.Updated(i, "1")
			if n := <-result; n != 1 {
				t.Fatalf("%d deltas, want one", n)
			}
		}
	})
}

// TestAWakeUpIsPassedOn ends the wait of the goroutine that was woken, of two.
func TestAWakeUpIsPassedOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := New(identity)
		ctx, cancel := context.WithCancel(t.Context())
		results := make(chan error, 2)
		pop := func(ctx context.Context) {
			_, _, err := f.Pop(ctx)
			results <- err
		}
		go pop(ctx)
		synctest.Wait()
		go pop(t.Context())
		synctest.Wait()
		// The first has been woken, and can't go on before its context is done.
		f.mu.Lock()
		f.append(&Delta[int, int]{Type: Added, Key: 1, Object: 1})
		cancel()
		f.mu.Unlock()
		if one, other := <-results, <-results; !errors.Is(errors.Join(one, other), context.Canceled) || one != nil && other != nil {
			t.Fatalf("%v and %v", one, other)
		}
	})
}

// TestABatchIsLetGo wants nothing of a batch to be reachable once it is given back,
// and the queue to be synced then.
func TestABatchIsLetGo(t *testing.T) {
	const objects = 100
	f := New(func(i *[2]int) int { return i[0] })
	var freed atomic.Int64
	list := Items[int, *[2]int]{}
	for i := range objects {
		object := &[2]int{i}
		runtime.AddCleanup(object, func(struct{}) { freed.Add(1) }, struct{}{})
		list = append(list, Item[int, *[2]int]{Key: i, Object: object})
	}
	f.Replace(list, "1")
	list = nil
	for i := range objects {
		object := &[2]int{i}
		runtime.AddCleanup(object, func(struct{}) { freed.Add(1) }, struct{}{})
		f.Updated(object, "1")
	}
	if batch, err := f.PopBatch(t.Context()); len(batch) != objects+1 || err != nil || f.HasSynced() {
		t.Fatalf("%d deltas, %v, synced %t", len(batch), err, f.HasSynced())
	}
	if _, err := f.PopBatch(ended(t)); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if !f.HasSynced() {
		t.Error("not synced once the list was given back")
	}
	for range 100 {
		if runtime.GC(); freed.Load() == 2*objects {
			break
		}
		runtime.Gosched()
	}
	if n := freed.Load(); n != 2*objects {
		t.Errorf("%d of %d objects are free", n, 2*objects)
	}
	runtime.KeepAlive(f)
}

// TestABurstsBufferIsLetGo wants small buffers soon after a burst, of which one or
// both had to grow.
func TestABurstsBufferIsLetGo(t *testing.T) {
	for _, first := range []int{1, 2 * keepBuffer} {
		f := New(identity)
		add := func(n int) {
			for i := range n {
				f.Updated(i, "1")
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
		if n := cap(f.log) + cap(f.lent); n > 2*keepBuffer {
			t.Errorf("after %d deltas and a burst there is room for %d", first, n)
		}
	}
}

// TestAPanicLeavesNoLock takes without a context.
func TestAPanicLeavesNoLock(t *testing.T) {
	f := New(identity)
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
