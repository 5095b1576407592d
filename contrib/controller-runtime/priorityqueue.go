package kwctrl

import (
	"cmp"
	"sync/atomic"
	"time"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	kwprometheus "github.com/kubewright/kubewright/contrib/prometheus"
	"github.com/kubewright/kubewright/runtime/ownwrites"
	"github.com/kubewright/kubewright/runtime/queue"
)

// NewQueue returns a priority queue for the NewQueue of a controller's options:
//
//	ctrl.NewControllerManagedBy(manager).
//		For(&corev1.ConfigMap{}).
//		WithOptions(controller.Options{NewQueue: kwctrl.NewQueue[reconcile.Request]}).
//		Complete(reconciler)
//
// It is NewPriorityQueue with that limiter. Without a NewQueue, a controller has controller-runtime's
// own priority queue, which is a good choice, too. This one does the same with less work, and has no
// goroutines of its own.
func NewQueue[T comparable](
	controllerName string, limiter workqueue.TypedRateLimiter[T],
) workqueue.TypedRateLimitingInterface[T] {
	return NewPriorityQueue(controllerName, queue.Config[T]{Limiter: limiter})
}

// NewPriorityQueue returns a queue that does what controller-runtime's priority queue does.
// controller-runtime's handlers recognize it as one, so they add objects of initial lists and of resyncs
// with handler.LowPriority, behind live changes. Its methods are safe for concurrent use.
//
// These parts of the configuration have other defaults here:
//
//   - Limiter: client-go's exponential one from 5 ms to 1,000 s, as controller-runtime's.
//   - Ageing: off, as in controller-runtime, so that items of low priority starve as long as there are
//     others. A positive value prevents that.
//   - Metrics: those that controller-runtime has for its own queues, in its registry, with
//     workqueue_depth for each priority, if the queue has a name.
//   - MergeDelayed is always on.
//
// Flow works, too: if it returns the namespace of a request, no namespace keeps the others waiting.
// Priorities then count within a namespace. Order can't be set.
//
// Priorities are clamped to 32 bits, with Ageing to plus or minus 1,000,000. An item that is delayed and
// rate limited (AddOpts.After and RateLimited) waits for the shorter of both delays. After ShutDown
// the queue hands out no items any more, not even ready ones.
//
// These are the differences from controller-runtime's queue:
//
//   - ShutDownWithDrain waits until nothing is in process, as client-go's does.
//   - ShutDown can be called twice.
//   - A delayed item that is added again without a delay goes behind what is ready by then. In
//     controller-runtime's queue it goes before what was added after it.
//   - workqueue_depth stays right with more than 25 priorities.
//   - The queue doesn't log its items.
func NewPriorityQueue[T comparable](name string, config queue.Config[T]) priorityqueue.PriorityQueue[T] {
	if config.Limiter == nil {
		config.Limiter = workqueue.NewTypedItemExponentialFailureRateLimiter[T](
			5*time.Millisecond, 1000*time.Second)
	}
	if config.Metrics == nil {
		config.Metrics = kwprometheus.PriorityMetrics(provider, name)
	}
	config.Ageing = cmp.Or(config.Ageing, -1)
	config.MergeDelayed = true
	q := &priorityQueue[T]{config: config, name: name}
	if l, ok := config.Limiter.(trackedLimiter[T]); ok {
		q.config.Limiter = l.TypedRateLimiter
		q.tracker, q.Queue = l.tracker, ownwrites.NewQueue(l.tracker, q.config)
	} else {
		q.Queue = queue.New(config)
	}
	return q
}

// provider looks up controller-runtime's metrics in its registry when the first queue needs them.
var provider = kwprometheus.NewProvider(metrics.Registry)

// priorityQueue is a Queue behind controller-runtime's interface.
type priorityQueue[T comparable] struct {
	*queue.Queue[T]
	config queue.Config[T]
	// tracker is that of the queue, nil if it waits for no own writes.
	tracker *ownwrites.Tracker
	// name is that of the controller, see nameOf.
	name string
	// down is set before Queue is shut down, because that goes on to hand out ready items.
	down atomic.Bool
	// processed, if not nil, is called when the processing of an item has ended.
	processed func()
}

func (q *priorityQueue[T]) AddWithOpts(o priorityqueue.AddOpts, items ...T) {
	for _, item := range items {
		delay := o.After
		if o.RateLimited {
			if limited := q.When(item); delay == 0 || limited < delay {
				delay = limited
			}
		}
		q.AddWith(item, queue.AddOptions{After: delay, Priority: o.Priority})
	}
}

// Forget is also noted: a controller tells no more of a run that succeeds, or asks for another one after a
// time.
func (q *priorityQueue[T]) Forget(item T) {
	q.Note(item, "its failures are forgotten")
	q.Queue.Forget(item)
}

func (q *priorityQueue[T]) AddAfter(item T, delay time.Duration) {
	q.AddWith(item, queue.AddOptions{After: delay})
}

func (q *priorityQueue[T]) AddRateLimited(item T) {
	q.AddAfter(item, q.When(item))
}

func (q *priorityQueue[T]) GetWithPriority() (item T, priority int, shutdown bool) {
	if !q.down.Load() {
		item, priority, shutdown = q.Queue.GetWithPriority()
		if !q.down.Load() {
			return item, priority, shutdown
		}
		if !shutdown {
			q.Drop(item)
		}
	}
	var none T
	return none, 0, true
}

func (q *priorityQueue[T]) Get() (item T, shutdown bool) {
	item, _, shutdown = q.GetWithPriority()
	return item, shutdown
}

func (q *priorityQueue[T]) Done(item T) {
	if q.processed != nil {
		q.processed()
	}
	q.Queue.Done(item)
}

// Drop is Done for an item that isn't processed, as in a queue of a sharded controller.
func (q *priorityQueue[T]) Drop(item T) { q.Queue.Done(item) }

// Status has no items that wait once the queue was shut down, because it hands them out no more.
func (q *priorityQueue[T]) Status() queue.Status {
	s := q.Queue.Status()
	if s.ShutDown {
		s.Ready, s.Again, s.Parked, s.OldestWaiting = 0, 0, 0, 0
	}
	return s
}

// Len counts items in process that were added again, too, as controller-runtime's queue does.
func (q *priorityQueue[T]) Len() int { return q.Pending() }

func (q *priorityQueue[T]) ShutDown() {
	q.down.Store(true)
	q.Queue.ShutDown()
}

func (q *priorityQueue[T]) ShutDownWithDrain() {
	q.down.Store(true)
	q.Queue.ShutDownWithDrain()
}
