package queue

import (
	"sync/atomic"
	"time"

	"k8s.io/client-go/util/workqueue"
)

// Owned is a work queue that accepts and hands out only what somebody owns, which may change at any time: of
// a controller that shares its objects with others, the keys in its own ranges of hashes. NewOwned makes it.
// All methods are safe for concurrent use; those that aren't here are the inner queue's.
type Owned[T comparable] struct {
	workqueue.TypedRateLimitingInterface[T]
	owns    func(T) bool
	dropped atomic.Uint64
}

// NewOwned returns a queue that hands an item on to inner, and from it to a worker, if owns returns true at
// that moment. It drops and counts others. Nobody else may call Get of inner. owns must be quick and safe for
// concurrent use; it may not call the queue.
//
// What is dropped isn't remembered: whoever comes to own an item must add it, as informers do with the
// objects of ranges that are added to them.
func NewOwned[T comparable](inner workqueue.TypedRateLimitingInterface[T], owns func(T) bool) *Owned[T] {
	return &Owned[T]{TypedRateLimitingInterface: inner, owns: owns}
}

// Dropped returns how many items were dropped, when they were added or when they would have been handed out.
func (q *Owned[T]) Dropped() uint64 { return q.dropped.Load() }

// Accepts reports whether an item is owned now, and counts it as dropped if it isn't. It is for queues on top
// of this one that have further ways to add or hand out items, such as controller-runtime's.
func (q *Owned[T]) Accepts(item T) bool {
	if q.owns(item) {
		return true
	}
	q.dropped.Add(1)
	return false
}

// Add adds an item, unless nobody here owns it.
func (q *Owned[T]) Add(item T) {
	if q.Accepts(item) {
		q.TypedRateLimitingInterface.Add(item)
	}
}

// AddAfter adds an item after a delay, unless nobody here owns it now or when it would be handed out.
func (q *Owned[T]) AddAfter(item T, delay time.Duration) {
	if q.Accepts(item) {
		q.TypedRateLimitingInterface.AddAfter(item, delay)
	}
}

// AddRateLimited adds an item after the delay that the rate limiter chooses, unless nobody here owns it now
// or when it would be handed out. What isn't owned doesn't count as a failure, and its failures are
// forgotten.
func (q *Owned[T]) AddRateLimited(item T) {
	if q.Accepts(item) {
		q.TypedRateLimitingInterface.AddRateLimited(item)
		return
	}
	q.Forget(item)
}

// Get waits for an item that is owned and hands it out.
func (q *Owned[T]) Get() (item T, shutdown bool) {
	for {
		item, shutdown = q.TypedRateLimitingInterface.Get()
		if shutdown || q.Accepts(item) {
			return item, shutdown
		}
		q.Forget(item)
		q.Done(item)
	}
}
