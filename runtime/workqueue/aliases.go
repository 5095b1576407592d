//lint:file-ignore SA1019 the deprecated names are part of the API

package workqueue

import (
	"context"
	"time"

	"k8s.io/client-go/util/workqueue"
)

// The interfaces and configurations of queues are client-go's, so a queue of this package can be used
// wherever client-go's can, and the other way round.
type (
	// TypedInterface is a work queue.
	TypedInterface[T comparable] = workqueue.TypedInterface[T]
	// TypedDelayingInterface is a work queue that can add an item later.
	TypedDelayingInterface[T comparable] = workqueue.TypedDelayingInterface[T]
	// TypedRateLimitingInterface is a delaying queue whose limiter chooses the delay.
	TypedRateLimitingInterface[T comparable] = workqueue.TypedRateLimitingInterface[T]
	// Queue is the order in which ready items are handed out.
	Queue[T comparable] = workqueue.Queue[T]

	// TypedQueueConfig configures NewTypedWithConfig.
	TypedQueueConfig[T comparable] = workqueue.TypedQueueConfig[T]
	// TypedDelayingQueueConfig configures NewTypedDelayingQueueWithConfig.
	TypedDelayingQueueConfig[T comparable] = workqueue.TypedDelayingQueueConfig[T]
	// TypedRateLimitingQueueConfig configures NewTypedRateLimitingQueueWithConfig.
	TypedRateLimitingQueueConfig[T comparable] = workqueue.TypedRateLimitingQueueConfig[T]

	// Interface is a queue of anything.
	//
	// Deprecated: use TypedInterface.
	Interface = workqueue.Interface
	// DelayingInterface is a delaying queue of anything.
	//
	// Deprecated: use TypedDelayingInterface.
	DelayingInterface = workqueue.DelayingInterface
	// RateLimitingInterface is a rate limiting queue of anything.
	//
	// Deprecated: use TypedRateLimitingInterface.
	RateLimitingInterface = workqueue.RateLimitingInterface
	// QueueConfig configures NewWithConfig.
	//
	// Deprecated: use TypedQueueConfig.
	QueueConfig = workqueue.QueueConfig
	// DelayingQueueConfig configures NewDelayingQueueWithConfig.
	//
	// Deprecated: use TypedDelayingQueueConfig.
	DelayingQueueConfig = workqueue.DelayingQueueConfig
	// RateLimitingQueueConfig configures NewRateLimitingQueueWithConfig.
	//
	// Deprecated: use TypedRateLimitingQueueConfig.
	RateLimitingQueueConfig = workqueue.RateLimitingQueueConfig
)

// DefaultQueue returns an order that is first in, first out.
func DefaultQueue[T comparable]() Queue[T] { return workqueue.DefaultQueue[T]() }

// Limiters are client-go's.
type (
	// TypedRateLimiter chooses how long an item waits before it is processed again.
	TypedRateLimiter[T comparable] = workqueue.TypedRateLimiter[T]
	// TypedBucketRateLimiter is one token bucket for all items. Each When takes a token, also for an item
	// that is already delayed: an item that is added faster than the bucket fills delays all items ever
	// longer.
	TypedBucketRateLimiter[T comparable] = workqueue.TypedBucketRateLimiter[T]
	// TypedItemExponentialFailureRateLimiter doubles an item's delay with each of its failures.
	TypedItemExponentialFailureRateLimiter[T comparable] = workqueue.TypedItemExponentialFailureRateLimiter[T]
	// TypedItemFastSlowRateLimiter has a short delay for an item's first failures, then a long one.
	TypedItemFastSlowRateLimiter[T comparable] = workqueue.TypedItemFastSlowRateLimiter[T]
	// TypedMaxOfRateLimiter returns the longest delay of several limiters.
	TypedMaxOfRateLimiter[T comparable] = workqueue.TypedMaxOfRateLimiter[T]
	// TypedWithMaxWaitRateLimiter caps the delays of another limiter.
	TypedWithMaxWaitRateLimiter[T comparable] = workqueue.TypedWithMaxWaitRateLimiter[T]

	// RateLimiter is a limiter for anything.
	//
	// Deprecated: use TypedRateLimiter.
	RateLimiter = workqueue.RateLimiter
	// BucketRateLimiter is TypedBucketRateLimiter for anything.
	//
	// Deprecated: use TypedBucketRateLimiter.
	BucketRateLimiter = workqueue.BucketRateLimiter
	// ItemExponentialFailureRateLimiter is TypedItemExponentialFailureRateLimiter for anything.
	//
	// Deprecated: use TypedItemExponentialFailureRateLimiter.
	ItemExponentialFailureRateLimiter = workqueue.ItemExponentialFailureRateLimiter
	// ItemFastSlowRateLimiter is TypedItemFastSlowRateLimiter for anything.
	//
	// Deprecated: use TypedItemFastSlowRateLimiter.
	ItemFastSlowRateLimiter = workqueue.ItemFastSlowRateLimiter
	// MaxOfRateLimiter is TypedMaxOfRateLimiter for anything.
	//
	// Deprecated: use TypedMaxOfRateLimiter.
	MaxOfRateLimiter = workqueue.MaxOfRateLimiter
	// WithMaxWaitRateLimiter is TypedWithMaxWaitRateLimiter for anything.
	//
	// Deprecated: use TypedWithMaxWaitRateLimiter.
	WithMaxWaitRateLimiter = workqueue.WithMaxWaitRateLimiter
)

// DefaultTypedControllerRateLimiter returns the limiter that controllers use: 5 ms doubled with
// each failure of an item, up to 1000 s, and 10 items a second in total with a burst of 100.
func DefaultTypedControllerRateLimiter[T comparable]() TypedRateLimiter[T] {
	return workqueue.DefaultTypedControllerRateLimiter[T]()
}

// DefaultTypedItemBasedRateLimiter returns a limiter of 1 ms doubled with each failure of an item,
// up to 1000 s.
func DefaultTypedItemBasedRateLimiter[T comparable]() TypedRateLimiter[T] {
	return workqueue.DefaultTypedItemBasedRateLimiter[T]()
}

// NewTypedItemExponentialFailureRateLimiter returns a limiter whose delay after n failures is
// baseDelay*2^n, at most maxDelay.
func NewTypedItemExponentialFailureRateLimiter[T comparable](
	baseDelay, maxDelay time.Duration,
) TypedRateLimiter[T] {
	return workqueue.NewTypedItemExponentialFailureRateLimiter[T](baseDelay, maxDelay)
}

// NewTypedItemFastSlowRateLimiter returns a limiter whose delay is fastDelay for the first
// maxFastAttempts failures of an item and slowDelay thereafter.
func NewTypedItemFastSlowRateLimiter[T comparable](
	fastDelay, slowDelay time.Duration, maxFastAttempts int,
) TypedRateLimiter[T] {
	return workqueue.NewTypedItemFastSlowRateLimiter[T](fastDelay, slowDelay, maxFastAttempts)
}

// NewTypedMaxOfRateLimiter returns a limiter whose delay is the longest delay of limiters.
func NewTypedMaxOfRateLimiter[T comparable](limiters ...TypedRateLimiter[T]) TypedRateLimiter[T] {
	return workqueue.NewTypedMaxOfRateLimiter(limiters...)
}

// NewTypedWithMaxWaitRateLimiter returns limiter with no delay longer than maxDelay.
func NewTypedWithMaxWaitRateLimiter[T comparable](
	limiter TypedRateLimiter[T], maxDelay time.Duration,
) TypedRateLimiter[T] {
	return workqueue.NewTypedWithMaxWaitRateLimiter(limiter, maxDelay)
}

// DefaultControllerRateLimiter is DefaultTypedControllerRateLimiter for anything.
//
// Deprecated: use DefaultTypedControllerRateLimiter.
func DefaultControllerRateLimiter() RateLimiter { return workqueue.DefaultControllerRateLimiter() }

// DefaultItemBasedRateLimiter is DefaultTypedItemBasedRateLimiter for anything.
//
// Deprecated: use DefaultTypedItemBasedRateLimiter.
func DefaultItemBasedRateLimiter() RateLimiter { return workqueue.DefaultItemBasedRateLimiter() }

// NewItemExponentialFailureRateLimiter is NewTypedItemExponentialFailureRateLimiter for anything.
//
// Deprecated: use NewTypedItemExponentialFailureRateLimiter.
func NewItemExponentialFailureRateLimiter(baseDelay, maxDelay time.Duration) RateLimiter {
	return workqueue.NewItemExponentialFailureRateLimiter(baseDelay, maxDelay)
}

// NewItemFastSlowRateLimiter is NewTypedItemFastSlowRateLimiter for anything.
//
// Deprecated: use NewTypedItemFastSlowRateLimiter.
func NewItemFastSlowRateLimiter(fastDelay, slowDelay time.Duration, maxFastAttempts int) RateLimiter {
	return workqueue.NewItemFastSlowRateLimiter(fastDelay, slowDelay, maxFastAttempts)
}

// NewMaxOfRateLimiter is NewTypedMaxOfRateLimiter for anything.
//
// Deprecated: use NewTypedMaxOfRateLimiter.
func NewMaxOfRateLimiter(limiters ...TypedRateLimiter[any]) RateLimiter {
	return workqueue.NewMaxOfRateLimiter(limiters...)
}

// NewWithMaxWaitRateLimiter is NewTypedWithMaxWaitRateLimiter for anything.
//
// Deprecated: use NewTypedWithMaxWaitRateLimiter.
func NewWithMaxWaitRateLimiter(limiter RateLimiter, maxDelay time.Duration) RateLimiter {
	return workqueue.NewWithMaxWaitRateLimiter(limiter, maxDelay)
}

// The metric interfaces are client-go's.
type (
	// MetricsProvider makes the seven metrics of a queue.
	MetricsProvider = workqueue.MetricsProvider
	// GaugeMetric goes up and down.
	GaugeMetric = workqueue.GaugeMetric
	// SettableGaugeMetric is set to a value.
	SettableGaugeMetric = workqueue.SettableGaugeMetric
	// CounterMetric only goes up.
	CounterMetric = workqueue.CounterMetric
	// SummaryMetric takes single observations.
	SummaryMetric = workqueue.SummaryMetric
	// HistogramMetric takes single observations.
	HistogramMetric = workqueue.HistogramMetric
)

type (
	// DoWorkPieceFunc does one piece of the work of ParallelizeUntil.
	DoWorkPieceFunc = workqueue.DoWorkPieceFunc
	// Options changes what ParallelizeUntil does.
	Options = workqueue.Options
)

// WithChunkSize makes each worker of ParallelizeUntil take that many pieces at a time, 1 unless
// set. It is a variable because the type that it returns has no exported name.
var WithChunkSize = workqueue.WithChunkSize

// ParallelizeUntil calls doWorkPiece with 0 to pieces-1 from that many goroutines, and returns when
// all calls have returned. When ctx ends, no further call begins.
func ParallelizeUntil(
	ctx context.Context, workers, pieces int, doWorkPiece DoWorkPieceFunc, opts ...Options,
) {
	workqueue.ParallelizeUntil(ctx, workers, pieces, doWorkPiece, opts...)
}
