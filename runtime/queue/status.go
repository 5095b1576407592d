package queue

import (
	"time"
)

// Status is what a queue has at one moment.
type Status struct {
	// Ready is the number of items that wait for Get, InProcess that of items between Get and Done, Again that
	// of those which were added meanwhile, and Parked that of items that Config.Gate holds back.
	Ready, InProcess, Again, Parked int
	// Delayed is the number of items with a delay, and NextDue the time until the first of them is due, at least
	// 0. It is 0 if there is none.
	Delayed int
	NextDue time.Duration
	// HandedOut counts the items that Get has returned.
	HandedOut uint64
	// Timed is set if the queue has Metrics, and so knows times: how long the item that has been in process for
	// the longest time is there, and how long the oldest of Ready, Again and Parked has waited. Both are 0 if
	// there is none.
	Timed                         bool
	LongestRunning, OldestWaiting time.Duration
	// Failing is the number of items that have failed twelve times in a row or more, up to 1,000: for each, the
	// limiter was asked for a delay that often since Forget, or since NoteError was told of a success.
	// FailingItem is the one that has been so for the longest time, FailingFor. FailingError is its last error,
	// if the queue keeps steps (see Keep) and somebody has called NoteError.
	Failing      int
	FailingItem  any
	FailingFor   time.Duration
	FailingError string
	// Late counts the items that were released by ReleaseLate, LateCause is the cause of the last one.
	Late      uint64
	LateCause string
	// ShutDown is set if the queue was shut down.
	ShutDown bool
}

// Status returns what the queue has now. If the queue has Metrics, it looks at each item.
func (q *Queue[T]) Status() Status {
	q.mu.Lock()
	defer q.mu.Unlock()
	s := Status{
		Ready: q.ready.len(), InProcess: q.inProcess, Again: q.readded, Parked: q.parked(), Delayed: q.delays.n,
		HandedOut: q.handedOut, ShutDown: q.shutting,
	}
	q.setFailing(&s)
	s.Late, s.LateCause = q.late, q.lateCause
	if s.Delayed > 0 {
		s.NextDue = max(0, time.Duration(q.delays.next()-q.base.now()))
	}
	if q.metrics != nil {
		s.Timed = true
		s.LongestRunning, s.OldestWaiting = q.metrics.ages()
	}
	return s
}

// ages returns how long the oldest item in process, and the oldest one that waits, have been there.
func (r *recorder) ages() (running, waiting time.Duration) {
	now := r.base.now()
	if first := r.at(0).next; first != 0 {
		running = time.Duration(now - r.at(first).started)
	}
	for id := 1; id < r.times.len(); id++ {
		if t := r.times.at(id); t.waits {
			waiting = max(waiting, time.Duration(now-t.queued))
		}
	}
	return running, waiting
}
