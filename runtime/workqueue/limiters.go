package workqueue

import (
	"time"

	"golang.org/x/time/rate"

	"github.com/kubewright/kubewright/runtime/queue"
)

// TypedBucketRateLimiter is a token bucket for all items together, see
// [queue.BucketLimiter].
type TypedBucketRateLimiter[T comparable] struct {
	*rate.Limiter
}

// When takes a token and returns the time until it is there.
func (r *TypedBucketRateLimiter[T]) When(item T) time.Duration { return r.Reserve().Delay() }

// NumRequeues returns 0: the bucket doesn't know items.
func (r *TypedBucketRateLimiter[T]) NumRequeues(item T) int { return 0 }

// Forget does nothing.
func (r *TypedBucketRateLimiter[T]) Forget(item T) {}

// TypedItemExponentialFailureRateLimiter doubles the delay of an item with
// each of its failures, see [queue.ExponentialLimiter].
type TypedItemExponentialFailureRateLimiter[T comparable] struct {
	limiter *queue.ExponentialLimiter[T]
}

// When counts a failure and returns the delay.
func (r *TypedItemExponentialFailureRateLimiter[T]) When(item T) time.Duration {
	return r.limiter.When(item)
}

// NumRequeues returns the number of failures.
func (r *TypedItemExponentialFailureRateLimiter[T]) NumRequeues(item T) int {
	return r.limiter.NumRequeues(item)
}

// Forget forgets the failures.
func (r *TypedItemExponentialFailureRateLimiter[T]) Forget(item T) { r.limiter.Forget(item) }

// TypedItemFastSlowRateLimiter is fast for some attempts, slow thereafter, see
// [queue.FastSlowLimiter].
type TypedItemFastSlowRateLimiter[T comparable] struct {
	limiter *queue.FastSlowLimiter[T]
}

// When counts a failure and returns the delay.
func (r *TypedItemFastSlowRateLimiter[T]) When(item T) time.Duration { return r.limiter.When(item) }

// NumRequeues returns the number of failures.
func (r *TypedItemFastSlowRateLimiter[T]) NumRequeues(item T) int {
	return r.limiter.NumRequeues(item)
}

// Forget forgets the failures.
func (r *TypedItemFastSlowRateLimiter[T]) Forget(item T) { r.limiter.Forget(item) }

// TypedMaxOfRateLimiter is the worst case of several limiters, see
// [queue.MaxLimiter]. In it a bucket's burst can seem exceeded, when items come
// late because of the others.
type TypedMaxOfRateLimiter[T comparable] struct {
	limiter queue.MaxLimiter[T]
}

// When returns the longest delay.
func (r *TypedMaxOfRateLimiter[T]) When(item T) time.Duration { return r.limiter.When(item) }

// NumRequeues returns the highest number of failures.
func (r *TypedMaxOfRateLimiter[T]) NumRequeues(item T) int { return r.limiter.NumRequeues(item) }

// Forget makes each limiter forget item.
func (r *TypedMaxOfRateLimiter[T]) Forget(item T) { r.limiter.Forget(item) }

// TypedWithMaxWaitRateLimiter cuts the delays of another limiter, see
// [queue.MaxWaitLimiter].
type TypedWithMaxWaitRateLimiter[T comparable] struct {
	limiter queue.MaxWaitLimiter[T]
}

// When returns the limiter's delay, or the longest allowed.
func (w TypedWithMaxWaitRateLimiter[T]) When(item T) time.Duration { return w.limiter.When(item) }

// Forget makes the limiter forget item.
func (w TypedWithMaxWaitRateLimiter[T]) Forget(item T) { w.limiter.Forget(item) }

// NumRequeues returns the limiter's number of failures.
func (w TypedWithMaxWaitRateLimiter[T]) NumRequeues(item T) int { return w.limiter.NumRequeues(item) }

// The limiters of anything.
type (
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
	return NewTypedMaxOfRateLimiter(
		NewTypedItemExponentialFailureRateLimiter[T](5*time.Millisecond, 1000*time.Second),
		&TypedBucketRateLimiter[T]{Limiter: rate.NewLimiter(10, 100)},
	)
}

// DefaultTypedItemBasedRateLimiter returns a limiter of 1 ms doubled with each
// failure of an item, up to 1000 s.
func DefaultTypedItemBasedRateLimiter[T comparable]() TypedRateLimiter[T] {
	return NewTypedItemExponentialFailureRateLimiter[T](time.Millisecond, 1000*time.Second)
}

// NewTypedItemExponentialFailureRateLimiter returns a limiter that asks for
// baseDelay*2^n after n failures, maxDelay at most.
func NewTypedItemExponentialFailureRateLimiter[T comparable](baseDelay time.Duration, maxDelay time.Duration) TypedRateLimiter[T] {
	return &TypedItemExponentialFailureRateLimiter[T]{queue.NewExponentialLimiter[T](baseDelay, maxDelay)}
}

// NewTypedItemFastSlowRateLimiter returns a limiter that asks for fastDelay the
// first maxFastAttempts times, and for slowDelay thereafter.
func NewTypedItemFastSlowRateLimiter[T comparable](fastDelay, slowDelay time.Duration, maxFastAttempts int) TypedRateLimiter[T] {
	return &TypedItemFastSlowRateLimiter[T]{queue.NewFastSlowLimiter[T](fastDelay, slowDelay, maxFastAttempts)}
}

// NewTypedMaxOfRateLimiter returns the worst case of limiters.
func NewTypedMaxOfRateLimiter[T comparable](limiters ...TypedRateLimiter[T]) TypedRateLimiter[T] {
	all := make([]queue.Limiter[T], len(limiters))
	for i, limiter := range limiters {
		all[i] = limiter
	}
	return &TypedMaxOfRateLimiter[T]{*queue.NewMaxLimiter(all...)}
}

// NewTypedWithMaxWaitRateLimiter returns limiter with no delay longer than
// maxDelay.
func NewTypedWithMaxWaitRateLimiter[T comparable](limiter TypedRateLimiter[T], maxDelay time.Duration) TypedRateLimiter[T] {
	return &TypedWithMaxWaitRateLimiter[T]{*queue.NewMaxWaitLimiter[T](limiter, maxDelay)}
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
