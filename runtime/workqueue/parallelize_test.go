package workqueue_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	upstream "k8s.io/client-go/util/workqueue"

	"github.com/kubewright/kubewright/runtime/workqueue"
)

func TestParallelizeUntil(t *testing.T) {
	for _, test := range []struct{ workers, pieces, chunk int }{
		{1, 1, 0}, {3, 0, 1}, {4, 1000, 1}, {10, 3, 1}, {4, 1000, 13}, {2, 10, 100}, {5, 1001, -1}, {0, 5, 1},
	} {
		t.Run(fmt.Sprint(test), func(t *testing.T) {
			seen := make([]atomic.Int32, max(test.pieces, 0))
			var running, most atomic.Int32
			var mu sync.Mutex
			workqueue.ParallelizeUntil(t.Context(), test.workers, test.pieces, func(piece int) {
				n := running.Add(1)
				mu.Lock()
				most.Store(max(most.Load(), n))
				mu.Unlock()
				seen[piece].Add(1)
				running.Add(-1)
			}, workqueue.WithChunkSize(test.chunk))
			for piece := range seen {
				if n := seen[piece].Load(); n != 1 && test.workers > 0 {
					t.Errorf("piece %d was done %d times", piece, n)
				}
			}
			if n := int(most.Load()); n > test.workers {
				t.Errorf("%d workers at once", n)
			}
		})
	}
}

// TestParallelizeFewerThanNone compares what numbers of workers and pieces below
// 0 do with what they do to client-go's.
func TestParallelizeFewerThanNone(t *testing.T) {
	// outcome tells what f did: it panics or calls doWorkPiece so many times.
	outcome := func(f func(doWorkPiece func(int))) (said string) {
		var done atomic.Int32
		defer func() {
			if said = fmt.Sprint(done.Load()); recover() != nil {
				said = "panic"
			}
		}()
		f(func(int) { done.Add(1) })
		return
	}
	seen := map[string]bool{}
	for workers := -2; workers <= 2; workers++ {
		for pieces := -8; pieces <= 8; pieces++ {
			for chunk := -1; chunk <= 4; chunk++ {
				got := outcome(func(f func(int)) {
					workqueue.ParallelizeUntil(t.Context(), workers, pieces, f, workqueue.WithChunkSize(chunk))
				})
				want := outcome(func(f func(int)) {
					upstream.ParallelizeUntil(t.Context(), workers, pieces, f, upstream.WithChunkSize(chunk))
				})
				if seen[want] = true; got != want {
					t.Errorf("%d workers, %d pieces, chunks of %d: %s, client-go: %s", workers, pieces, chunk, got, want)
				}
			}
		}
	}
	if !seen["panic"] || !seen["0"] || !seen["8"] {
		t.Error(seen)
	}
}

// TestParallelizeUntilTheEnd ends the context in the middle of a chunk.
func TestParallelizeUntilTheEnd(t *testing.T) {
	for _, chunk := range []int{1, 100} {
		ctx, cancel := context.WithCancel(t.Context())
		done := 0
		workqueue.ParallelizeUntil(ctx, 1, 1000, func(int) {
			if done++; done == 42 {
				cancel()
			}
		}, workqueue.WithChunkSize(chunk))
		if done != 42 {
			t.Errorf("chunks of %d: %d pieces were done", chunk, done)
		}
	}
	done := 0
	var none context.Context
	workqueue.ParallelizeUntil(none, 1, 10, func(int) { done++ })
	if done != 10 {
		t.Errorf("without a context %d pieces were done", done)
	}
}

func TestParallelizeSurvivesWhatUtilruntimeSurvives(t *testing.T) {
	handlers := utilruntime.PanicHandlers
	defer func() { utilruntime.PanicHandlers, utilruntime.ReallyCrash = handlers, true }()
	var panics atomic.Int32
	utilruntime.PanicHandlers = []func(context.Context, any){func(context.Context, any) { panics.Add(1) }}
	utilruntime.ReallyCrash = false
	var done atomic.Int32
	workqueue.ParallelizeUntil(t.Context(), 3, 100, func(piece int) {
		if piece == 1 {
			panic("boom")
		}
		done.Add(1)
	})
	if done.Load() != 99 || panics.Load() != 1 {
		t.Errorf("%d pieces were done, %d panics", done.Load(), panics.Load())
	}
}
