package workqueue

import (
	"context"
	"sync"
)

// Pool controls the number of workers of a Run. The zero value is ready for use, by one Run at a time.
// All methods are safe for concurrent use.
type Pool struct {
	mu sync.Mutex
	// want is the requested number of workers, size the number of existing ones, busy the number of those
	// that are reconciling.
	want, size, busy int
	// generation counts the runs. A worker that outlives its run, because the grace period was over, isn't
	// counted in the next.
	generation int
	// start starts a worker; nil while no Run runs.
	start func()
	// idleCtx is the context in which idle workers wait. It is derived from base; wake ends it so that they
	// compare size with want again.
	base, idleCtx context.Context
	wake          context.CancelFunc
}

// Size returns the current number of workers.
func (p *Pool) Size() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.size
}

// Busy returns the number of workers that are reconciling.
func (p *Pool) Busy() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.busy
}

// Resize changes the number of workers; before and after Run it does nothing. New workers start at once,
// surplus ones stop when they are done with their item. With 0 workers nothing is processed, and a
// shutdown of the queue isn't noticed, until the next Resize. If the queue is another implementation, a
// surplus worker that waits in its Get takes one more item before it stops.
func (p *Pool) Resize(workers int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.start == nil {
		return
	}
	p.want = max(workers, 0)
	for p.size < p.want {
		p.size++
		p.start()
	}
	if p.size > p.want {
		p.wake()
		p.idleCtx, p.wake = context.WithCancel(p.base)
	}
}

// open begins a run. It calls start for each worker, with the pool locked and the generation of the
// run.
func (p *Pool) open(ctx context.Context, workers int, start func(generation int)) {
	p.mu.Lock()
	if p.start != nil {
		p.mu.Unlock()
		panic("workqueue: a Pool can be used by one Run at a time only")
	}
	p.generation++
	generation := p.generation
	p.size, p.busy = 0, 0
	p.base, p.start = ctx, func() { start(generation) }
	p.idleCtx, p.wake = context.WithCancel(ctx)
	p.mu.Unlock()
	p.Resize(workers)
}

// close ends a run. After it no worker starts, and none is surplus.
func (p *Pool) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.start = nil
	p.wake()
	p.idleCtx = p.base
}

// idle returns the context in which a worker waits for its next item. It returns false if the worker is
// surplus, and stops counting it, or if it belongs to an earlier run.
func (p *Pool) idle(generation int) (context.Context, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if generation != p.generation {
		return nil, false
	}
	if p.start != nil && p.size > p.want {
		p.size--
		return nil, false
	}
	return p.idleCtx, true
}

// workerEnded stops counting a worker that ends and isn't surplus.
func (p *Pool) workerEnded(generation int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if generation == p.generation {
		p.size--
	}
}

func (p *Pool) working(generation, n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if generation == p.generation {
		p.busy += n
	}
}
