// Package workqueue has the unexported names of client-go's package workqueue that its test of rate limiting
// uses, over our rate limiting queue.
package workqueue

import (
	"time"

	"k8s.io/utils/clock"

	. "github.com/kubewright/kubewright/runtime/workqueue"
)

const maxWait = time.Second

// waitFor is an item to be delayed.
type waitFor[T comparable] struct{ readyAt time.Time }

// delayingType is a queue that sends the items to be delayed.
type delayingType[T comparable] struct {
	TypedInterface[T]
	clock           clock.Clock
	heartbeat       clock.Ticker
	stopCh          chan struct{}
	waitingForAddCh chan *waitFor[T]
	metrics         any
}

func (q *delayingType[T]) AddAfter(_ T, delay time.Duration) {
	q.waitingForAddCh <- &waitFor[T]{q.clock.Now().Add(delay)}
}

func newRetryMetrics(string, any) any { return nil }

// rateLimitingType is our rate limiting queue over another queue of delayed items.
type rateLimitingType[T comparable] struct {
	TypedDelayingInterface[T]
	limiter TypedRateLimiter[T]
}

func newRateLimiting[T comparable](limiter TypedRateLimiter[T]) *rateLimitingType[T] {
	return &rateLimitingType[T]{limiter: limiter}
}

func (q *rateLimitingType[T]) ours() TypedRateLimitingInterface[T] {
	return NewTypedRateLimitingQueueWithConfig(q.limiter,
		TypedRateLimitingQueueConfig[T]{DelayingQueue: q.TypedDelayingInterface})
}

func (q *rateLimitingType[T]) AddRateLimited(item T)  { q.ours().AddRateLimited(item) }
func (q *rateLimitingType[T]) Forget(item T)          { q.ours().Forget(item) }
func (q *rateLimitingType[T]) NumRequeues(item T) int { return q.ours().NumRequeues(item) }
