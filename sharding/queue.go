package sharding

import (
	"sync/atomic"
	"time"

	"k8s.io/client-go/util/workqueue"
)

// Queue is a work queue that accepts and hands out only items that this replica owns, such as the keys in
// the ranges of hashes of one replica of a sharded controller. Ownership may change at any time. NewQueue
// makes it. All methods are safe for concurrent use; those that Queue doesn't define are the inner queue's.
type Queue[T comparable] struct {
	workqueue.TypedRateLimitingInterface[T]
	accepts func(T) bool
	dropped atomic.Uint64
	// note notes what happens to an item for those who look at the inner queue, nil if it can't.
	note func(item T, what string)
}

// NewQueue returns a queue that adds an item to inner, and later hands it to a worker, only if accepts
// returns true at that moment. It drops and counts other items. Nobody else may call Get of inner. accepts
// must be quick and safe for concurrent use; it must not call the queue. Let it call [Member.Accepts], not
// [Member.Owns], which is false while the member's Lease has lapsed.
//
// Dropped items aren't remembered: a replica that becomes the owner of an item must add it, as informers do
// with the objects of ranges that are added to them.
func NewQueue[T comparable](inner workqueue.TypedRateLimitingInterface[T], accepts func(T) bool) *Queue[T] {
	q := &Queue[T]{TypedRateLimitingInterface: inner, accepts: accepts}
	if noting, ok := inner.(interface{ Note(item T, what string) }); ok {
		q.note = noting.Note
	}
	return q
}

// Unwrap returns the inner queue, which function Run of runtime/workqueue asks for the contexts of items.
// Nobody may call its Get.
func (q *Queue[T]) Unwrap() workqueue.TypedRateLimitingInterface[T] {
	return q.TypedRateLimitingInterface
}

// Dropped returns how many items were dropped instead of being added or handed out.
func (q *Queue[T]) Dropped() uint64 { return q.dropped.Load() }

// Accepts reports whether an item is owned now, and counts it as dropped if it isn't. It is for queues built
// on this one that have further methods to add or hand out items, such as controller-runtime's.
func (q *Queue[T]) Accepts(item T) bool {
	if q.accepts(item) {
		return true
	}
	q.dropped.Add(1)
	if q.note != nil {
		q.note(item, "dropped: this replica doesn't own it")
	}
	return false
}

// Add adds an item if it is owned.
func (q *Queue[T]) Add(item T) {
	if q.Accepts(item) {
		q.TypedRateLimitingInterface.Add(item)
	}
}

// AddAfter adds an item after a delay if it is owned now. It is handed out if it is still owned then.
func (q *Queue[T]) AddAfter(item T, delay time.Duration) {
	if q.Accepts(item) {
		q.TypedRateLimitingInterface.AddAfter(item, delay)
	}
}

// AddRateLimited adds an item after the delay that the rate limiter chooses, if it is owned now. It is handed
// out if it is still owned then. For an item that isn't owned it counts no failure, and calls Forget.
func (q *Queue[T]) AddRateLimited(item T) {
	if q.Accepts(item) {
		q.TypedRateLimitingInterface.AddRateLimited(item)
		return
	}
	q.Forget(item)
}

// Get waits for an item that is owned, and hands it out. It drops ready items that aren't owned any more.
func (q *Queue[T]) Get() (item T, shutdown bool) {
	for {
		item, shutdown = q.TypedRateLimitingInterface.Get()
		if shutdown || q.Accepts(item) {
			return item, shutdown
		}
		q.Forget(item)
		q.Done(item)
	}
}
