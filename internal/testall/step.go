package main

import (
	"bytes"
	"fmt"
	"io"
	"sync"
	"time"
)

// step is one thing that must pass.
type step struct {
	name string
	// run writes what it wants to show.
	run func(io.Writer) (counts, error)
	// overlaps is set if the step may run beside others.
	overlaps bool
}

// kept keeps what a step shows. A step and the programs that it runs may write at the same time.
type kept struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (k *kept) Write(text []byte) (int, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.text.Write(text)
}

// atOnce is how many steps that overlap run at once: one more than a machine of two cores has. Those that run
// servers wait a lot.
const atOnce = 3

// runAll runs steps in their order, and returns the counts and the names of those that failed. What a step
// that overlaps shows comes in one piece, when the step has ended.
func runAll(w io.Writer, steps []step) (sum counts, failed []string) {
	var mu sync.Mutex // guards w and the results
	run := func(s step, show io.Writer) {
		start := time.Now()
		fmt.Fprintf(show, "=== %s\n", s.name)
		c, err := s.run(show)
		verdict := "ok"
		if err != nil {
			fmt.Fprintln(show, err)
			verdict = "FAILED"
		}
		fmt.Fprintf(show, "--- %s: %s in %.1f s%s\n", s.name, verdict, time.Since(start).Seconds(), c)
		mu.Lock()
		defer mu.Unlock()
		if shown, isKept := show.(*kept); isKept {
			_, _ = w.Write(shown.text.Bytes())
		}
		switch {
		case err != nil:
			failed = append(failed, s.name)
			c.failed = max(c.failed, 1) // a step that fails without a failing test still counts
		case c.none():
			c.passed++ // a linter is one check
		}
		sum.add(c)
	}
	var running sync.WaitGroup
	places := make(chan struct{}, atOnce)
	for _, s := range steps {
		if !s.overlaps {
			running.Wait()
			run(s, w)
			continue
		}
		places <- struct{}{}
		running.Go(func() {
			defer func() { <-places }()
			run(s, &kept{})
		})
	}
	running.Wait()
	return sum, failed
}
