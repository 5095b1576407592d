package workqueue

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
)

// DoWorkPieceFunc does one piece of work.
type DoWorkPieceFunc func(piece int)

type options struct {
	chunkSize int
}

// Options changes what ParallelizeUntil does.
type Options func(*options)

// WithChunkSize makes a worker take this many pieces at a time, one unless
// set. It pays when there are many more pieces than workers, and little work
// in each.
func WithChunkSize(c int) func(*options) {
	return func(o *options) { o.chunkSize = c }
}

// ParallelizeUntil calls doWorkPiece with 0 to pieces-1, from so many
// goroutines, and returns when all calls have returned. When ctx ends, no
// further call is begun. A nil ctx never ends. A panic of doWorkPiece ends its
// worker as utilruntime decides. With no workers or no pieces it does nothing.
// With fewer than none it panics, as client-go's does: where that finds no chunk
// in less than no pieces, this one does nothing either.
func ParallelizeUntil(ctx context.Context, workers, pieces int, doWorkPiece DoWorkPieceFunc, opts ...Options) {
	if pieces == 0 {
		return
	}
	var o options
	for _, opt := range opts {
		opt(&o)
	}
	size := max(o.chunkSize, 1)
	if workers < 0 || pieces < 0 && (pieces+size-1)/size < 0 {
		panic(fmt.Sprintf("workqueue: ParallelizeUntil with %d workers and %d pieces", workers, pieces))
	}
	if pieces < 0 {
		return
	}
	chunks := (pieces-1)/size + 1
	var stop <-chan struct{}
	if ctx != nil {
		stop = ctx.Done()
	}

	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(workers, chunks) {
		wg.Go(func() {
			defer utilruntime.HandleCrashWithContext(ctx)
			for chunk := int(next.Add(1) - 1); chunk < chunks; chunk = int(next.Add(1) - 1) {
				for piece := chunk * size; piece < min((chunk+1)*size, pieces); piece++ {
					select {
					case <-stop:
						return
					default:
						doWorkPiece(piece)
					}
				}
			}
		})
	}
	wg.Wait()
}
