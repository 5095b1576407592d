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
	// the longest time, RunningItem, is there, and how long the oldest of Ready, Again and Parked has waited.
	// All are zero if there is none.
	Timed                         bool
	LongestRunning, OldestWaiting time.Duration
	RunningItem                   any
	// Failing is the number of items in the queue that have failed twelve times in a row or more, up to 1,000:
	// for each, the limiter was asked for a delay that often since Forget, or since NoteError was told of a
	// success. FailingItem is the one that has been so for the longest time, FailingFor: since its twelfth
	// failure, or since the first one after Status didn't find it in the queue. FailingError is its last error,
	// if the queue keeps steps (see Keep) and somebody has called NoteError.
	Failing      int
	FailingItem  any
	FailingFor   time.Duration
	FailingError string
	// Late counts the items that were released by ReleaseLate. LateItem is the last one, LateCause its cause,
	// and LateAgo how long ago that was. FirstLateAgo is how long ago the first was of those with no more than
	// ten minutes between two.
	Late                  uint64
	LateItem              any
	LateCause             string
	LateAgo, FirstLateAgo time.Duration
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
	if l := q.late; l != nil {
		now := q.base.now()
		s.Late, s.LateItem, s.LateCause = l.n, l.item, l.cause
		s.LateAgo, s.FirstLateAgo = time.Duration(now-l.last), time.Duration(now-l.first)
	}
	if s.Delayed > 0 {
		s.NextDue = max(0, time.Duration(q.delays.next()-q.base.now()))
	}
	if q.metrics != nil {
		s.Timed = true
		var oldest uint32
		oldest, s.LongestRunning, s.OldestWaiting = q.metrics.ages()
		if oldest != 0 {
			s.RunningItem = q.table.at(oldest).item
		}
	}
	return s
}

// ages returns how long the oldest item in process, and the oldest one that waits, have been there, and the
// slot of the first, 0 if there is none.
func (r *recorder) ages() (oldest uint32, running, waiting time.Duration) {
	now := r.base.now()
	if oldest = r.at(0).next; oldest != 0 {
		running = time.Duration(now - r.at(oldest).started)
	}
	for id := 1; id < r.times.len(); id++ {
		if t := r.times.at(id); t.waits {
			waiting = max(waiting, time.Duration(now-t.queued))
		}
	}
	return oldest, running, waiting
}
