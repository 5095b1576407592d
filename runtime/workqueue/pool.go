package workqueue

import (
	"context"
	"sync"
)

// Pool shows and changes the number of workers of a Run. The zero value is
// ready to be given to one Run at a time. All methods are safe for concurrent
// use.
type Pool struct {
	mu sync.Mutex
	// want is the number of workers that there should be, size the number
	// that there are, busy those of them that reconcile.
	want, size, busy int
	// run counts the runs: a worker that outlived the grace of its run has no
	// part in the next.
	run int
	// start starts a worker, nil when nothing runs.
	start func()
	// wait is the context in which idle workers wait; wake ends it before
	// base ends, so that they look at want again.
	base, wait context.Context
	wake       context.CancelFunc
}

// Size returns the number of workers.
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

// Resize changes the number of workers. New ones start at once; those that are
// too many stop when they are done with their item. With 0 workers nothing is
// processed until the next Resize, and a shutdown of the queue isn't noticed.
// Workers that wait in the Get of another implementation's queue can't be woken:
// they take one more item each before they stop.
// Before and after Run it does nothing.
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
		p.wait, p.wake = context.WithCancel(p.base)
	}
}

// open begins a run: start is called with the pool locked for each worker that
// is to be, with the number of the run.
func (p *Pool) open(ctx context.Context, workers int, start func(run int)) {
	p.mu.Lock()
	if p.start != nil {
		p.mu.Unlock()
		panic("workqueue: a Pool is for one Run at a time")
	}
	p.run++
	run := p.run
	p.size, p.busy = 0, 0
	p.base, p.start = ctx, func() { start(run) }
	p.wait, p.wake = context.WithCancel(ctx)
	p.mu.Unlock()
	p.Resize(workers)
}

// close ends a run: no worker starts any more, and none is one too many.
func (p *Pool) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.start = nil
	p.wake()
	p.wait = p.base
}

// waiting returns the context in which a worker waits for its next item, and
// false when the worker is one too many: then it is counted out.
func (p *Pool) waiting(run int) (context.Context, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if run != p.run {
		return nil, false
	}
	if p.start != nil && p.size > p.want {
		p.size--
		return nil, false
	}
	return p.wait, true
}

// left counts a worker out that ends for another reason.
func (p *Pool) left(run int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if run == p.run {
		p.size--
	}
}

func (p *Pool) working(run, n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if run == p.run {
		p.busy += n
	}
}
