package queue

import (
	"fmt"
	"sync/atomic"
	"time"
)

const (
	// manyFailures is how often an item fails in a row until it counts as failing. With the default limiter, the
	// delays before are 10 s together.
	manyFailures = 12
	// mostFailing is how many items are remembered.
	mostFailing = 1000
)

// failures are the items that have failed many times in a row. The queue's lock guards since; n is its
// length, so that the success of an item costs one load.
type failures[T comparable] struct {
	n     atomic.Int64
	since map[T]int64
}

// When returns how long the limiter has item wait, which counts as a failure of it.
func (q *Queue[T]) When(item T) time.Duration {
	delay := q.limiter.When(item)
	n := q.limiter.NumRequeues(item)
	if n < manyFailures && q.history.Load() == nil {
		return delay
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if h := q.history.Load(); h != nil {
		now := q.base.now()
		q.troubled(h, item, now).add(now, fmt.Sprintf("failed or to be tried again, %d in a row", n))
	}
	if n < manyFailures {
		return delay
	}
	f := &q.failing
	if _, known := f.since[item]; known || len(f.since) >= mostFailing {
		return delay
	}
	if f.since == nil {
		f.since = map[T]int64{}
	}
	f.since[item] = q.base.now()
	f.n.Store(int64(len(f.since)))
	return delay
}

// Forget resets the limiter's failures of item. A caller of AddRateLimited must call it when the item
// has succeeded or is given up. It doesn't replace Done.
func (q *Queue[T]) Forget(item T) {
	q.limiter.Forget(item)
	if q.failing.n.Load() == 0 && q.history.Load() == nil {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if h := q.history.Load(); h != nil && h.lines[item] != nil {
		h.lines[item].troubled, h.lines[item].lastError = false, ""
	}
	delete(q.failing.since, item)
	q.failing.n.Store(int64(len(q.failing.since)))
}

// setFailing sets the number of items that fail, and the one that has failed for the longest time.
func (q *Queue[T]) setFailing(s *Status) {
	if s.Failing = len(q.failing.since); s.Failing == 0 {
		return
	}
	now := q.base.now()
	first := now
	var longest T
	for item, since := range q.failing.since {
		if since <= first {
			first, longest = since, item
		}
	}
	s.FailingItem, s.FailingFor = longest, time.Duration(now-first)
	if h := q.history.Load(); h != nil && h.lines[longest] != nil {
		s.FailingError = h.lines[longest].lastError
	}
}
