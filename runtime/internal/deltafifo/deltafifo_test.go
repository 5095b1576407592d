package deltafifo

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
)

func identity(i int) int { return i }

func TestPopBlocksUntilThereIsSomething(t *testing.T) {
	ways := map[string]func(context.Context, *DeltaFIFO[int, int]) error{
		"PopBatch": func(ctx context.Context, f *DeltaFIFO[int, int]) error { _, err := f.PopBatch(ctx); return err },
		"Pop":      func(ctx context.Context, f *DeltaFIFO[int, int]) error { _, _, err := f.Pop(ctx); return err },
	}
	releases := map[string]struct {
		release func(*DeltaFIFO[int, int], context.CancelFunc)
		want    error
	}{
		"a delta":             {func(f *DeltaFIFO[int, int], _ context.CancelFunc) { f.Added(1, "1") }, nil},
		"a resync":            {func(f *DeltaFIFO[int, int], _ context.CancelFunc) { f.Resync(Items[int, int]{{Key: 1}}) }, nil},
		"closing":             {func(f *DeltaFIFO[int, int], _ context.CancelFunc) { f.Close() }, ErrClosed},
		"the end of the wait": {func(_ *DeltaFIFO[int, int], cancel context.CancelFunc) { cancel() }, context.Canceled},
	}
	for way, pop := range ways {
		for what, c := range releases {
			t.Run(way+" ended by "+what, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					ctx, cancel := context.WithCancel(t.Context())
					defer cancel()
					f := New(identity)
					result := make(chan error, 1)
					go func() { result <- pop(ctx, f) }()
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
}

func TestCloseHandsOutWhatIsPending(t *testing.T) {
	f := New(identity)
	f.Added(1, "1")
	f.Close()
	f.Added(2, "2")
	f.Close()
	if batch, err := f.PopBatch(t.Context()); len(batch) != 2 || err != nil {
		t.Fatalf("%v, %v, want both deltas", batch, err)
	}
	if _, err := f.PopBatch(t.Context()); err != ErrClosed || !f.IsClosed() {
		t.Fatalf("%v, want ErrClosed", err)
	}
}

// Every delta reaches one of several consumers, and those of a key arrive in
// order at whoever takes them.
func TestConcurrentPop(t *testing.T) {
	const producers, each, keys = 4, 2000, 100
	f := New(func(i int) int { return i % keys })
	var producing, consuming sync.WaitGroup
	for p := range producers {
		producing.Go(func() {
			for i := range each {
				// A producer keeps to its own keys, so that their order is known.
				f.Added(i*keys+p*(keys/producers)+i%(keys/producers), "")
			}
		})
	}
	counts := make(chan int, producers)
	for range producers {
		consuming.Go(func() {
			n := 0
			for {
				key, deltas, err := f.Pop(t.Context())
				if err != nil {
					counts <- n
					return
				}
				for i, d := range deltas {
					if d.Key != key || i > 0 && deltas[i-1].Object >= d.Object {
						t.Errorf("key %d: %v", key, deltas)
					}
				}
				n += len(deltas)
			}
		})
	}
	producing.Wait()
	f.Close()
	consuming.Wait()
	close(counts)
	sum := 0
	for n := range counts {
		sum += n
	}
	if sum != producers*each {
		t.Fatalf("%d deltas, want %d", sum, producers*each)
	}
}

// A consumer of batches that runs beside its producers gets everything, in
// each producer's order.
func TestConcurrentPopBatch(t *testing.T) {
	const producers, each = 4, 5000
	f := New(identity)
	var producing sync.WaitGroup
	for p := range producers {
		producing.Go(func() {
			for i := range each {
				f.Updated(i*producers+p, "")
			}
		})
	}
	go func() { producing.Wait(); f.Close() }()
	var next [producers]int
	for {
		batch, err := f.PopBatch(t.Context())
		if err != nil {
			break
		}
		for _, d := range batch {
			p := d.Object % producers
			if d.Object/producers != next[p] {
				t.Fatalf("producer %d: %d, want %d", p, d.Object/producers, next[p])
			}
			next[p]++
		}
	}
	if next != [producers]int{each, each, each, each} {
		t.Fatalf("%v, want %d each", next, each)
	}
}

func TestPopBatchReusesItsBuffers(t *testing.T) {
	f := New(identity)
	allocs := testing.AllocsPerRun(100, func() {
		for i := range 50 {
			f.Updated(i, "1")
		}
		if batch, err := f.PopBatch(context.Background()); len(batch) != 50 || err != nil {
			t.Fatal(batch, err)
		}
	})
	if allocs != 0 {
		t.Errorf("%v allocations, want none", allocs)
	}
}

func TestNames(t *testing.T) {
	for deltaType, want := range map[DeltaType]string{
		Added: "Added", Updated: "Updated", Deleted: "Deleted", Replaced: "Replaced",
		ReplacedAll: "ReplacedAll", Sync: "Sync", SyncAll: "SyncAll", Bookmark: "Bookmark",
		0: "", Bookmark + 1: "", 255: "",
	} {
		if got := deltaType.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
