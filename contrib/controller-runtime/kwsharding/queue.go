package kwsharding

import (
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"

	kwctrl "github.com/kubewright/kubewright/contrib/controller-runtime"
	"github.com/kubewright/kubewright/sharding"
)

// newQueueFunc is the NewQueue of a controller's options.
type newQueueFunc[T comparable] = func(
	controllerName string, limiter workqueue.TypedRateLimiter[T],
) workqueue.TypedRateLimitingInterface[T]

// newQueue returns a function that makes queues which accept and hand out only what the member owns.
func (s *Shards[T]) newQueue(inner newQueueFunc[T]) newQueueFunc[T] {
	if inner == nil {
		inner = kwctrl.NewQueue[T]
	}
	return func(name string, limiter workqueue.TypedRateLimiter[T]) workqueue.TypedRateLimitingInterface[T] {
		q := inner(name, limiter)
		// Accepts follows the table, and not what the member may act on now, so that an outage loses no items.
		owned := sharding.NewQueue(q, func(request T) bool { return s.Accepts(hashedValue(request)) })
		s.metrics.AddQueue(name, owned)
		if ranked, ok := q.(priorityqueue.PriorityQueue[T]); ok {
			return &ownedPriorityQueue[T]{owned, ranked, name}
		}
		return owned
	}
}

// ownedPriorityQueue is a queue of owned items with controller-runtime's interface.
type ownedPriorityQueue[T comparable] struct {
	*sharding.Queue[T]
	inner priorityqueue.PriorityQueue[T]
	// name is that of the controller: kwctrl names its handlers so.
	name string
}

func (q *ownedPriorityQueue[T]) AddWithOpts(o priorityqueue.AddOpts, items ...T) {
	for _, item := range items {
		if q.Accepts(item) {
			q.inner.AddWithOpts(o, item)
		} else if o.RateLimited {
			q.Forget(item)
		}
	}
}

func (q *ownedPriorityQueue[T]) GetWithPriority() (item T, priority int, shutdown bool) {
	for {
		item, priority, shutdown = q.inner.GetWithPriority()
		if shutdown || q.Accepts(item) {
			return item, priority, shutdown
		}
		q.Forget(item)
		if inner, ok := q.inner.(interface{ Drop(T) }); ok {
			inner.Drop(item)
		} else {
			q.Done(item)
		}
	}
}

// Skips reports whether a change doesn't add a request, see kwctrl.SkipEchoes.
func (q *ownedPriorityQueue[T]) Skips(request T, old, changed any) bool {
	inner, ok := q.inner.(interface{ Skips(T, any, any) bool })
	return ok && inner.Skips(request, old, changed)
}
