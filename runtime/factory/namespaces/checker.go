package namespaces

import (
	"slices"
	"sync"

	"k8s.io/client-go/tools/cache"
)

// multiChecker is done when all checkers of a set are done. The set may change meanwhile. At
// most one goroutine waits for them, however often Done is called.
type multiChecker struct {
	// checkers returns the present checkers.
	checkers func() []cache.DoneChecker
	// startWait calls wait on a goroutine, with a channel that is closed when wait has to
	// return. It does nothing if that channel is closed already.
	startWait func(wait func(over <-chan struct{}))

	// mu comes last: no other lock is taken under it.
	mu sync.Mutex
	// pending is closed when all checkers are done, and then set to nil. The next call
	// of Done makes a new one if necessary.
	pending chan struct{}
	// changed is closed when the set of checkers changes.
	changed chan struct{}
}

func newMultiChecker(
	checkers func() []cache.DoneChecker, startWait func(wait func(over <-chan struct{})),
) *multiChecker {
	return &multiChecker{checkers: checkers, startWait: startWait, changed: make(chan struct{})}
}

func (c *multiChecker) Name() string { return "informers of namespaces" }

// Done returns a channel that is closed when all checkers are done. It is never closed if
// the set is shut down first.
func (c *multiChecker) Done() <-chan struct{} {
	if allDone(c.checkers()) {
		done := make(chan struct{})
		close(done)
		return done
	}
	c.mu.Lock()
	first := c.pending == nil
	if first {
		c.pending = make(chan struct{})
	}
	pending := c.pending
	c.mu.Unlock()
	if first {
		c.startWait(c.wait)
	}
	return pending
}

// change announces that the set of checkers has changed. The caller holds the lock that
// guards the set, so that changed is closed before the new set is visible.
func (c *multiChecker) change() {
	c.mu.Lock()
	defer c.mu.Unlock()
	close(c.changed)
	c.changed = make(chan struct{})
}

// wait waits until all checkers are done, or over is closed.
func (c *multiChecker) wait(over <-chan struct{}) {
	for {
		c.mu.Lock()
		changed := c.changed
		c.mu.Unlock()
		checkers := c.checkers()
		next := slices.IndexFunc(checkers, func(c cache.DoneChecker) bool { return !cache.IsDone(c) })
		if next < 0 {
			if c.closePending(changed) {
				return
			}
			continue
		}
		select {
		case <-checkers[next].Done():
		case <-changed:
		case <-over:
			return
		}
	}
}

// closePending closes pending and returns true, unless the set of checkers has changed since
// changed was read: a caller of Done may be waiting for a new checker.
func (c *multiChecker) closePending(changed chan struct{}) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.changed != changed {
		return false
	}
	close(c.pending)
	c.pending = nil
	return true
}

func allDone(checkers []cache.DoneChecker) bool {
	return !slices.ContainsFunc(checkers, func(c cache.DoneChecker) bool { return !cache.IsDone(c) })
}
