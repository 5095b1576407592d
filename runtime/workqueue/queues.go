package workqueue

import (
	"sync"
	"time"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"

	"github.com/kubewright/kubewright/runtime/queue"
)

// Typed is a work queue without delays and rate limits. NewTyped and NewTypedWithConfig make it.
// All methods are safe for concurrent use.
type Typed[T comparable] struct {
	queue *queue.Queue[T]
}

// Type is a work queue of anything.
//
// Deprecated: use Typed.
type Type = Typed[any]

// NewTyped returns a queue.
func NewTyped[T comparable]() *Typed[T] {
	return NewTypedWithConfig(TypedQueueConfig[T]{})
}

// NewTypedWithConfig returns a queue as configured.
func NewTypedWithConfig[T comparable](config TypedQueueConfig[T]) *Typed[T] {
	return &Typed[T]{queue.New(queue.Config[T]{
		Clock:   config.Clock,
		Order:   config.Queue,
		Metrics: plainMetrics(config.MetricsProvider, config.Name),
	})}
}

// Add makes item ready, see [queue.Queue.Add].
func (q *Typed[T]) Add(item T) { q.queue.Add(item) }

// Len returns the number of items that are ready.
func (q *Typed[T]) Len() int { return q.queue.Len() }

// Get waits for an item that is ready, see [queue.Queue.Get].
func (q *Typed[T]) Get() (item T, shutdown bool) { return q.queue.Get() }

// Done ends the processing of item, see [queue.Queue.Done].
func (q *Typed[T]) Done(item T) { q.queue.Done(item) }

// ShutDown makes the queue ignore further additions, see [queue.Queue.ShutDown].
func (q *Typed[T]) ShutDown() { q.queue.ShutDown() }

// ShutDownWithDrain is ShutDown, and waits until nothing is in process, see
// [queue.Queue.ShutDownWithDrain].
func (q *Typed[T]) ShutDownWithDrain() { q.queue.ShutDownWithDrain() }

// ShuttingDown reports whether the queue has been shut down.
func (q *Typed[T]) ShuttingDown() bool { return q.queue.ShuttingDown() }

// NewTypedDelayingQueue returns a delaying queue without metrics.
func NewTypedDelayingQueue[T comparable]() TypedDelayingInterface[T] {
	return NewTypedDelayingQueueWithConfig(TypedDelayingQueueConfig[T]{})
}

// NewTypedDelayingQueueWithConfig returns a delaying queue as configured. The Logger is used for
// panics of config.Queue only.
func NewTypedDelayingQueueWithConfig[T comparable](
	config TypedDelayingQueueConfig[T],
) TypedDelayingInterface[T] {
	if config.Queue == nil {
		return newQueue[T](nil, config.Name, config.MetricsProvider, config.Clock)
	}
	return &delayed[T]{
		TypedInterface: config.Queue,
		line:           queue.New(queue.Config[T]{Clock: config.Clock}),
		retries:        retriesMetric(config.MetricsProvider, config.Name),
		logger:         ptr.Deref(config.Logger, klog.Background()),
	}
}

// NewTypedRateLimitingQueue returns a rate limiting queue without metrics. A nil limiter stands for
// DefaultTypedControllerRateLimiter. Call Forget when an item has succeeded or is given up: until
// then the limiter keeps its number of failures.
func NewTypedRateLimitingQueue[T comparable](rateLimiter TypedRateLimiter[T]) TypedRateLimitingInterface[T] {
	return NewTypedRateLimitingQueueWithConfig(rateLimiter, TypedRateLimitingQueueConfig[T]{})
}

// NewTypedRateLimitingQueueWithConfig returns a rate limiting queue as configured. About the limiter
// and Forget see NewTypedRateLimitingQueue.
func NewTypedRateLimitingQueueWithConfig[T comparable](
	rateLimiter TypedRateLimiter[T], config TypedRateLimitingQueueConfig[T],
) TypedRateLimitingInterface[T] {
	if rateLimiter == nil {
		rateLimiter = DefaultTypedControllerRateLimiter[T]()
	}
	if config.DelayingQueue == nil {
		return newQueue(rateLimiter, config.Name, config.MetricsProvider, config.Clock)
	}
	return &rateLimited[T]{TypedDelayingInterface: config.DelayingQueue, limiter: rateLimiter}
}

// newQueue returns a queue that can delay and limit. The constructors without a caller's queue
// return it directly, since a wrapper would cost a call in each method.
func newQueue[T comparable](
	limiter TypedRateLimiter[T], name string, provider MetricsProvider, c clock.WithTicker,
) *queue.Queue[T] {
	return queue.New(queue.Config[T]{Clock: c, Limiter: limiter, Metrics: NewMetrics(provider, name)})
}

// delayed adds delays to a queue of the caller's. A goroutine, which runs from the first delay to the
// shutdown, passes on the items whose delay is over.
type delayed[T comparable] struct {
	TypedInterface[T]
	// line has the items that are delayed.
	line              *queue.Queue[T]
	retries           CounterMetric
	logger            klog.Logger
	started, shutdown sync.Once
}

func (d *delayed[T]) AddAfter(item T, duration time.Duration) {
	if d.ShuttingDown() {
		return
	}
	d.retries.Inc()
	if duration <= 0 {
		d.Add(item)
		return
	}
	d.started.Do(func() { go d.passOnAll() })
	d.line.AddAfter(item, duration)
}

func (d *delayed[T]) passOnAll() {
	for {
		item, shutdown := d.line.Get()
		if shutdown {
			return
		}
		d.passOn(item)
		d.line.Done(item)
	}
}

// passOn ends the line when the caller has shut down the queue behind it.
func (d *delayed[T]) passOn(item T) {
	defer utilruntime.HandleCrashWithLogger(d.logger)
	if d.ShuttingDown() {
		d.line.ShutDown()
		return
	}
	d.Add(item)
}

// ShutDown shuts the caller's queue down only once, as client-go does: that queue may not expect more calls.
func (d *delayed[T]) ShutDown() {
	d.line.ShutDown()
	d.shutdown.Do(d.TypedInterface.ShutDown)
}

func (d *delayed[T]) ShutDownWithDrain() {
	d.line.ShutDown()
	d.TypedInterface.ShutDownWithDrain()
}

// rateLimited adds a limiter to a delaying queue of the caller's.
type rateLimited[T comparable] struct {
	TypedDelayingInterface[T]
	limiter TypedRateLimiter[T]
}

func (r *rateLimited[T]) AddRateLimited(item T)  { r.AddAfter(item, r.limiter.When(item)) }
func (r *rateLimited[T]) Forget(item T)          { r.limiter.Forget(item) }
func (r *rateLimited[T]) NumRequeues(item T) int { return r.limiter.NumRequeues(item) }
