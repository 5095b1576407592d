package queue

import (
	"context"
	"time"

	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
)

// Config configures a queue. The zero value gives a plain one: first in, first out, with the rate
// limiter of client-go's controllers.
//
// The queue calls Flow, Order, Gate and Metrics with its lock held. These functions, and Priority, must be
// quick and must not call the queue.
type Config[T comparable] struct {
	// Clock measures delays. The default is the real clock. A queue with another clock runs a
	// goroutine while an item is delayed.
	Clock clock.Clock

	// Limiter chooses the delays of AddRateLimited. The default is client-go's
	// DefaultTypedControllerRateLimiter.
	Limiter workqueue.TypedRateLimiter[T]

	// MergeDelayed keeps one copy of an item: an Add replaces a delayed copy, and AddAfter ignores the
	// delay if the item is ready or waits for its Done to become ready. So the item runs once and not
	// again when the delay is over. The higher of both priorities counts. By default the delayed copy
	// stays, as in client-go.
	MergeDelayed bool

	// Priority returns the priority of an item that is added without one. Items of higher priority
	// are handed out first. Items of the same priority are handed out in the order in which they were
	// added or in which their delays ended; an item in process counts from the moment when it was added
	// again. An item whose priority is raised goes behind those that have the new priority. Setting
	// Priority or Ageing makes a priority queue; without both, priorities are ignored. They are clamped
	// to plus or minus 1,000,000, without ageing to 32 bits.
	Priority func(item T) int
	// Ageing is the waiting time that raises an item by one step of priority, so that no item starves: an
	// item of priority p goes before each item of priority q > p that is added more than (q-p)*Ageing after
	// it. 0 means one second, and an hour is the maximum. A negative value turns ageing off: items of low
	// priority then starve as long as there are others.
	Ageing time.Duration

	// Flow returns the flow that an item belongs to, such as its namespace or tenant (the term is
	// that of the API server's priority and fairness). The queue calls it whenever the item becomes
	// ready. Flows that have ready items take turns, one item each, however many items each of them
	// has. Within a flow the order is by priority, or first in, first out.
	Flow func(item T) string

	// Order replaces the order in which ready items are handed out. It can't be combined with
	// Priority, Ageing or Flow. The queue never calls Pop while Len is 0, and pushes an item only
	// once before it is popped.
	Order workqueue.Queue[T]

	// Gate is called when an item becomes ready, and holds it back by returning true. The item is then parked
	// until [Queue.Release]: it is in the queue once, isn't ready, and keeps its age and its priority, which
	// an addition may raise. A shutdown makes all parked items ready, and Gate isn't called after it. Gate may
	// also be called by the queue's other methods, so it must not take a lock under which those are called.
	Gate func(item T) (hold bool)
	// Why says what an item waits for that Gate holds back, for [Queue.Line]. It is called without the queue's
	// lock.
	Why func(item T) string

	// Context returns the context in which an item that was handed out is processed, made from that of the
	// caller, see [Queue.Context].
	Context func(ctx context.Context, item T) context.Context

	// Skip is called by [Queue.Skips], without the queue's lock. It returns true if an item isn't to be added
	// because of a change. It may add the item later.
	Skip func(item T, old, changed any) bool
	// Finish is called by Done, without the queue's lock, before the item is done. It may add the item.
	Finish func(item T)

	// Metrics receives measurements. Nil turns them off. Function NewMetrics of package workqueue makes those
	// of a queue with a name.
	Metrics *Metrics
}

func (c *Config[T]) prioritised() bool { return c.Priority != nil || c.Ageing != 0 }

// AddOptions are the options of AddWith.
type AddOptions struct {
	// After is the delay; 0 or less means none.
	After time.Duration
	// RateLimited adds the limiter's delay. The longer of both delays counts.
	RateLimited bool
	// Priority replaces the result of Config.Priority for this addition. If the item waits already, the
	// higher priority counts.
	Priority *int
}
