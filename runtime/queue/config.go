package queue

import (
	"time"

	"k8s.io/utils/clock"
)

// Config says what a queue does beyond the plain one that New(Config[T]{})
// makes. Share, Order and Metrics are called with the queue locked, Priority
// may be: they must be quick, and must not call the queue.
type Config[T comparable] struct {
	// Clock is the clock that delays are measured with, real unless set. A
	// queue with a clock of its own runs a goroutine while an item is delayed.
	Clock clock.Clock

	// Limiter decides on the delays of AddRateLimited. Unless set it is
	// DefaultLimiter.
	Limiter Limiter[T]

	// MergeDelayed makes Add take along a delayed copy of the item, so that
	// the item runs once and not again when the delay is over, with the higher
	// of both priorities. Without it a delayed copy stays, as in client-go.
	MergeDelayed bool

	// Priority gives the priority of an item that is added without one. Items
	// of higher priority are handed out first. Setting Priority or Ageing
	// makes the queue one with priorities; else it is first in, first out,
	// and priorities are ignored. Priorities beyond plus or minus 1,000,000
	// count as that.
	Priority func(item T) int
	// Ageing is the waiting that counts as much as one step of priority, so
	// that nothing starves: an item of priority p goes before each item of
	// priority q > p that becomes ready more than (q-p)*Ageing after it. It
	// is DefaultAgeing when it is 0 and an hour at most. When it is negative
	// nothing ages, and low priorities starve as long as there are higher.
	Ageing time.Duration

	// Share names the party, a namespace or a tenant say, that an item
	// belongs to; it is asked whenever the item becomes ready. Parties that
	// have items ready take turns, one item each, however many items each of
	// them has. Within a party the order is that of priority, or first in,
	// first out.
	Share func(item T) string

	// Order replaces the order in which ready items are handed out. It
	// excludes Priority, Ageing and Share.
	Order Order[T]

	// Metrics, when set, is told what happens.
	Metrics *Metrics
}

func (c *Config[T]) prioritised() bool { return c.Priority != nil || c.Ageing != 0 }

// Order keeps items that are ready, and says which one is next. The queue
// calls it with its lock held, so it needs none; each item is in it once.
type Order[T comparable] interface {
	// Touch hears that an item which it holds was added again.
	Touch(item T)
	// Push takes an item.
	Push(item T)
	// Len returns the number of items that it holds.
	Len() int
	// Pop gives up the item whose turn it is. It is called only when Len is
	// more than 0.
	Pop() T
}
