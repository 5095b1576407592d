package tour

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/kubewright/kubewright/runtime/workqueue"
)

// ParallelizeUntil calls a function for each of a number of pieces, on a fixed number of workers. It returns
// when all pieces are done or, if the context ends first, when the pieces that have begun are done.
func Example_parallelizeUntil() {
	loaves := make([]int, 100)
	workqueue.ParallelizeUntil(context.Background(), 4, len(loaves), func(piece int) {
		loaves[piece] = piece // only one worker has the piece, so this needs no lock
	})
	sum := 0
	for _, n := range loaves {
		sum += n
	}
	fmt.Println("sum", sum)

	ctx, cancel := context.WithCancel(context.Background())
	var done atomic.Int32
	workqueue.ParallelizeUntil(ctx, 1, len(loaves), func(int) {
		if done.Add(1) == 10 {
			cancel()
		}
	}, workqueue.WithChunkSize(5)) // a worker takes five pieces at a time
	fmt.Println(done.Load(), "pieces before the context ended")
	// Output:
	// sum 4950
	// 10 pieces before the context ended
}
