package main

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// progress prints what a run is doing and how long it has been running. It is safe for concurrent use.
type progress struct {
	w       io.Writer
	started time.Time

	mu          sync.Mutex
	doing, last string
}

func newProgress(w io.Writer) *progress { return &progress{w: w, started: time.Now()} }

// say prints what begins.
func (p *progress) say(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.doing, p.last = fmt.Sprintf(format, args...), ""
	p.print()
}

// saw notes a result.
func (p *progress) saw(benchmark string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last = "; last result: " + benchmark
}

// tell prints the current step and the last result at intervals, until stop is called.
func (p *progress) tell(every time.Duration) (stop func()) {
	ticker, done := time.NewTicker(every), make(chan struct{})
	var told sync.WaitGroup
	told.Go(func() {
		defer ticker.Stop()
		for {
			select {
			case <-done:
				return
			case <-ticker.C:
				p.mu.Lock()
				p.print()
				p.mu.Unlock()
			}
		}
	})
	return func() { close(done); told.Wait() }
}

func (p *progress) print() {
	fmt.Fprintf(p.w, "%8s  %s%s\n", time.Since(p.started).Round(time.Second), p.doing, p.last)
}
