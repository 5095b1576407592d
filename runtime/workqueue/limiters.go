package workqueue

import (
	"time"

	"github.com/kubewright/kubewright/runtime/queue"
)

// The limiters are those of package queue under client-go's names.
type (
	// TypedBucketRateLimiter is a token bucket for all items together.
	TypedBucketRateLimiter[T comparable] = queue.BucketLimiter[T]
	// TypedItemExponentialFailureRateLimiter doubles the delay of an item with
	// each of its failures.
	TypedItemExponentialFailureRateLimiter[T comparable] = queue.ExponentialLimiter[T]
	// TypedItemFastSlowRateLimiter is fast for some attempts, slow thereafter.
	TypedItemFastSlowRateLimiter[T comparable] = queue.FastSlowLimiter[T]
	// TypedMaxOfRateLimiter is the worst case of several limiters. In it a
	// bucket's burst can seem exceeded, when items come late because of the
	// others.
	TypedMaxOfRateLimiter[T comparable] = queue.MaxLimiter[T]
	// TypedWithMaxWaitRateLimiter cuts the delays of another limiter.
	TypedWithMaxWaitRateLimiter[T comparable] = queue.MaxWaitLimiter[T]

	// BucketRateLimiter is a bucket for anything.
	//
	// Deprecated: use TypedBucketRateLimiter.
	BucketRateLimiter = TypedBucketRateLimiter[any]
	// ItemExponentialFailureRateLimiter is for anything.
	//
	// Deprecated: use TypedItemExponentialFailureRateLimiter.
	ItemExponentialFailureRateLimiter = TypedItemExponentialFailureRateLimiter[any]
	// ItemFastSlowRateLimiter is for anything.
	//
	// Deprecated: use TypedItemFastSlowRateLimiter.
	ItemFastSlowRateLimiter = TypedItemFastSlowRateLimiter[any]
	// MaxOfRateLimiter is for anything.
	//
	// Deprecated: use TypedMaxOfRateLimiter.
	MaxOfRateLimiter = TypedMaxOfRateLimiter[any]
	// WithMaxWaitRateLimiter is for anything.
	//
	// Deprecated: use TypedWithMaxWaitRateLimiter.
	WithMaxWaitRateLimiter = TypedWithMaxWaitRateLimiter[any]
)

// DefaultTypedControllerRateLimiter returns what controllers use: 5 ms doubled
// with each failure of an item, up to 1000 s, and all items together 10 times
// a second with a burst of 100.
func DefaultTypedControllerRateLimiter[T comparable]() TypedRateLimiter[T] {
	return queue.DefaultLimiter[T]()
}

// DefaultTypedItemBasedRateLimiter returns a limiter of 1 ms doubled with each
// failure of an item, up to 1000 s.
func DefaultTypedItemBasedRateLimiter[T comparable]() TypedRateLimiter[T] {
	return NewTypedItemExponentialFailureRateLimiter[T](time.Millisecond, 1000*time.Second)
}

// NewTypedItemExponentialFailureRateLimiter returns a limiter that asks for
// baseDelay*2^n after n failures, maxDelay at most.
func NewTypedItemExponentialFailureRateLimiter[T comparable](baseDelay time.Duration, maxDelay time.Duration) TypedRateLimiter[T] {
	return queue.NewExponentialLimiter[T](baseDelay, maxDelay)
}

// NewTypedItemFastSlowRateLimiter returns a limiter that asks for fastDelay the
// first maxFastAttempts times, and for slowDelay thereafter.
func NewTypedItemFastSlowRateLimiter[T comparable](fastDelay, slowDelay time.Duration, maxFastAttempts int) TypedRateLimiter[T] {
	return queue.NewFastSlowLimiter[T](fastDelay, slowDelay, maxFastAttempts)
}

// NewTypedMaxOfRateLimiter returns the worst case of limiters.
func NewTypedMaxOfRateLimiter[T comparable](limiters ...TypedRateLimiter[T]) TypedRateLimiter[T] {
	all := make([]queue.Limiter[T], len(limiters))
	for i, limiter := range limiters {
		all[i] = limiter
	}
	return queue.NewMaxLimiter(all...)
}

// NewTypedWithMaxWaitRateLimiter returns limiter with no delay longer than
// maxDelay.
func NewTypedWithMaxWaitRateLimiter[T comparable](limiter TypedRateLimiter[T], maxDelay time.Duration) TypedRateLimiter[T] {
	return queue.NewMaxWaitLimiter[T](limiter, maxDelay)
}

// NewItemExponentialFailureRateLimiter is
// NewTypedItemExponentialFailureRateLimiter of anything.
//
// Deprecated: use NewTypedItemExponentialFailureRateLimiter.
func NewItemExponentialFailureRateLimiter(baseDelay time.Duration, maxDelay time.Duration) RateLimiter {
	return NewTypedItemExponentialFailureRateLimiter[any](baseDelay, maxDelay)
}

// NewItemFastSlowRateLimiter is NewTypedItemFastSlowRateLimiter of anything.
//
// Deprecated: use NewTypedItemFastSlowRateLimiter.
func NewItemFastSlowRateLimiter(fastDelay, slowDelay time.Duration, maxFastAttempts int) RateLimiter {
	return NewTypedItemFastSlowRateLimiter[any](fastDelay, slowDelay, maxFastAttempts)
}

// NewMaxOfRateLimiter is NewTypedMaxOfRateLimiter of anything.
//
// Deprecated: use NewTypedMaxOfRateLimiter.
func NewMaxOfRateLimiter(limiters ...TypedRateLimiter[any]) RateLimiter {
	return NewTypedMaxOfRateLimiter(limiters...)
}

// NewWithMaxWaitRateLimiter is NewTypedWithMaxWaitRateLimiter of anything.
//
// Deprecated: use NewTypedWithMaxWaitRateLimiter.
func NewWithMaxWaitRateLimiter(limiter RateLimiter, maxDelay time.Duration) RateLimiter {
	return NewTypedWithMaxWaitRateLimiter[any](limiter, maxDelay)
}
