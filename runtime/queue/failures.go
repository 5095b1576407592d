package queue

import (
	"fmt"
	"time"
)

const (
	// manyFailures is how often an item fails in a row until it counts as failing. With the default limiter, the
	// delays before are 10 s together.
	manyFailures = 12
	// mostFailing is how many items are remembered.
	mostFailing = 1000
)

// failures are the items that have failed many times in a row. The queue's lock guards them. A queue without
// such items has a nil pointer, so that the success of an item costs one load.
type failures[T comparable] struct {
	since map[T]int64
	// succeeded are the items that have succeeded and ask to be tried again all the same, each with the
	// limiter's count that includes this request.
	succeeded map[T]int
}

// When returns how long the limiter has item wait, which counts as a failure of it unless NoteError was told
// that it has succeeded.
func (q *Queue[T]) When(item T) time.Duration {
	delay := q.limiter.When(item)
	n := q.limiter.NumRequeues(item)
	if n < manyFailures && q.history.Load() == nil {
		return delay
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	succeeded := 0
	if f := q.failing.Load(); f != nil {
		succeeded = f.succeeded[item]
		n -= succeeded
	}
	if h := q.history.Load(); h != nil && (n > 0 || succeeded == 0) {
		now := q.base.now()
		l := q.troubled(h, item, now)
		switch {
		case n == 1 && l.failing.at < l.last(started): // What was before it is another series.
			l.failing, l.late, l.lastError = step{now, notDoneSince}, false, ""
		case l.failing.what == "" && n > 1:
			l.failing, l.late = step{now, notDoneSince + orEarlier}, true
		case l.failing.what == "":
			l.failing, l.late = step{now, notDoneSince}, false
		}
		l.add(now, fmt.Sprintf("failed or to be tried again, %d in a row", n))
	}
	if n < manyFailures {
		return delay
	}
	f := q.failures()
	if _, known := f.since[item]; !known && len(f.since) < mostFailing {
		f.since[item] = q.base.now()
	}
	return delay
}

// failures returns those of the queue, which have an item soon.
func (q *Queue[T]) failures() *failures[T] {
	f := q.failing.Load()
	if f == nil {
		f = &failures[T]{since: map[T]int64{}, succeeded: map[T]int{}}
		q.failing.Store(f)
	}
	return f
}

// Forget resets the limiter's failures of item. A caller of AddRateLimited must call it when the item
// has succeeded or is given up. It doesn't replace Done.
func (q *Queue[T]) Forget(item T) {
	q.limiter.Forget(item)
	if q.failing.Load() == nil && q.history.Load() == nil {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.calm(item)
	if f := q.failing.Load(); f != nil {
		delete(f.since, item)
		delete(f.succeeded, item)
		q.dropFailures(f)
	}
}

// dropFailures drops failures that have no item.
func (q *Queue[T]) dropFailures(f *failures[T]) {
	if len(f.since)+len(f.succeeded) == 0 {
		q.failing.Store(nil)
	}
}

// pardon makes what the limiter has counted of an item, and its next request, no failures.
func (q *Queue[T]) pardon(item T) {
	counted := q.limiter.NumRequeues(item)
	q.mu.Lock()
	defer q.mu.Unlock()
	q.calm(item)
	f := q.failures()
	f.succeeded[item] = counted + 1
	delete(f.since, item)
}

// calm makes an item one whose last run hasn't failed.
func (q *Queue[T]) calm(item T) {
	if h := q.history.Load(); h != nil && h.lines[item] != nil {
		h.lines[item].troubled, h.lines[item].lastError, h.lines[item].failing = false, "", step{}
	}
}

// setFailing sets the number of items that fail, and the one that has failed for the longest time. It forgets
// those that aren't in the queue any more: controller-runtime gives up without Forget after a TerminalError.
func (q *Queue[T]) setFailing(s *Status) {
	f := q.failing.Load()
	if f == nil || len(f.since) == 0 {
		return
	}
	now := q.base.now()
	first := now
	var longest T
	for item, since := range f.since {
		if q.table.find(item) == 0 {
			delete(f.since, item)
			continue
		}
		s.Failing++
		if since <= first {
			first, longest = since, item
		}
	}
	if s.Failing == 0 {
		q.dropFailures(f)
		return
	}
	s.FailingItem, s.FailingFor = longest, time.Duration(now-first)
	if h := q.history.Load(); h != nil && h.lines[longest] != nil {
		s.FailingError = h.lines[longest].lastError
	}
}
