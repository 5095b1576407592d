package factory

import (
	"slices"
	"sync"

	"k8s.io/client-go/tools/cache"
)

// multiChecker is done when all of several are, of which there may be more or fewer
// meanwhile. One goroutine waits for them, whoever looks and how often.
type multiChecker struct {
	// checkers returns those of the moment.
	checkers func() []cache.DoneChecker
	// begin calls wait on a goroutine that it knows of, unless what wait has to
	// end with is over already.
	begin func(wait func(over <-chan struct{}))

	// mu is held for moments only: no other lock is taken with it.
	mu sync.Mutex
	// pending is closed when all are done. It is nil if nobody has asked since
	// they were.
	pending chan struct{}
	// changed is closed when there are others than before.
	changed chan struct{}
}

func newMultiChecker(checkers func() []cache.DoneChecker, begin func(wait func(over <-chan struct{}))) *multiChecker {
	return &multiChecker{checkers: checkers, begin: begin, changed: make(chan struct{})}
}

func (t *multiChecker) Name() string { return "informers of namespaces" }

// Done returns a channel that is closed when all are done, or never if the set is
// shut down before.
func (t *multiChecker) Done() <-chan struct{} {
	if allDone(t.checkers()) {
		done := make(chan struct{})
		close(done)
		return done
	}
	t.mu.Lock()
	first := t.pending == nil
	if first {
		t.pending = make(chan struct{})
	}
	pending := t.pending
	t.mu.Unlock()
	if first {
		t.begin(t.wait)
	}
	return pending
}

// change says that there are others than before. Whoever can see those finds it
// said: the lock that guards them is held.
func (t *multiChecker) change() {
	t.mu.Lock()
	defer t.mu.Unlock()
	close(t.changed)
	t.changed = make(chan struct{})
}

func (t *multiChecker) wait(over <-chan struct{}) {
	for {
		t.mu.Lock()
		changed := t.changed
		t.mu.Unlock()
		checkers := t.checkers()
		next := slices.IndexFunc(checkers, func(c cache.DoneChecker) bool { return !cache.IsDone(c) })
		if next < 0 {
			if t.end(changed) {
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

// end tells who waits, unless there have been others since changed was read:
// somebody may have asked because of those.
func (t *multiChecker) end(changed chan struct{}) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.changed != changed {
		return false
	}
	close(t.pending)
	t.pending = nil
	return true
}

func allDone(checkers []cache.DoneChecker) bool {
	return !slices.ContainsFunc(checkers, func(c cache.DoneChecker) bool { return !cache.IsDone(c) })
}
