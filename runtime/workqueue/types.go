//lint:file-ignore SA1019 the deprecated names are part of the API

package workqueue

import (
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"github.com/kubewright/kubewright/runtime/queue"
)

// The interfaces are client-go's, so that our queues and limiters go wherever
// client-go's go, and the other way round.
type (
	// TypedInterface is a work queue.
	TypedInterface[T comparable] = workqueue.TypedInterface[T]
	// TypedDelayingInterface is one that can add an item later.
	TypedDelayingInterface[T comparable] = workqueue.TypedDelayingInterface[T]
	// TypedRateLimitingInterface is one that decides itself how much later.
	TypedRateLimitingInterface[T comparable] = workqueue.TypedRateLimitingInterface[T]
	// TypedRateLimiter is what makes that decision.
	TypedRateLimiter[T comparable] = workqueue.TypedRateLimiter[T]
	// Queue is the order in which items that are ready are handed out.
	Queue[T comparable] = workqueue.Queue[T]

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
	// RateLimiter is a limiter of anything.
	//
	// Deprecated: use TypedRateLimiter.
	RateLimiter = workqueue.RateLimiter
)

// DefaultQueue returns the order of a queue that has no other: first in, first
// out.
func DefaultQueue[T comparable]() Queue[T] { return new(queue.FIFO[T]) }

// TypedQueueConfig is the configuration of NewTypedWithConfig.
type TypedQueueConfig[T comparable] struct {
	// Name is the queue's name in the metrics. Without one there are none.
	Name string
	// MetricsProvider makes the metrics, unless set that of SetProvider.
	MetricsProvider MetricsProvider
	// Clock is the queue's clock, real unless set.
	Clock clock.WithTicker
	// Queue is the order of items that are ready, DefaultQueue unless set.
	Queue Queue[T]
}

// QueueConfig is the configuration of NewWithConfig.
//
// Deprecated: use TypedQueueConfig.
type QueueConfig = TypedQueueConfig[any]

// TypedDelayingQueueConfig is the configuration of
// NewTypedDelayingQueueWithConfig.
type TypedDelayingQueueConfig[T comparable] struct {
	// Logger gets the panics of a Queue that isn't ours, klog's unless set.
	Logger *klog.Logger
	// Name is the queue's name in the metrics. Without one there are none.
	Name string
	// MetricsProvider makes the metrics, unless set that of SetProvider.
	MetricsProvider MetricsProvider
	// Clock is the queue's clock, real unless set.
	Clock clock.WithTicker
	// Queue is the queue that items go to after their delay, a new one unless
	// set.
	Queue TypedInterface[T]
}

// DelayingQueueConfig is the configuration of NewDelayingQueueWithConfig.
//
// Deprecated: use TypedDelayingQueueConfig.
type DelayingQueueConfig = TypedDelayingQueueConfig[any]

// TypedRateLimitingQueueConfig is the configuration of
// NewTypedRateLimitingQueueWithConfig.
type TypedRateLimitingQueueConfig[T comparable] struct {
	// Name is the queue's name in the metrics. Without one there are none.
	Name string
	// MetricsProvider makes the metrics, unless set that of SetProvider.
	MetricsProvider MetricsProvider
	// Clock is the queue's clock, real unless set.
	Clock clock.WithTicker
	// DelayingQueue is the queue that items go to with the limiter's delay, a
	// new one unless set.
	DelayingQueue TypedDelayingInterface[T]
}

// RateLimitingQueueConfig is the configuration of
// NewRateLimitingQueueWithConfig.
//
// Deprecated: use TypedRateLimitingQueueConfig.
type RateLimitingQueueConfig = TypedRateLimitingQueueConfig[any]
