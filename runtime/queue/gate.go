package queue

import (
	"cmp"
	"context"
	"slices"
	"time"
)

// gate holds back items that became ready, until Release. It is guarded by the queue's lock, and nil in
// queues without Config.Gate.
type gate[T comparable] struct {
	hold func(item T) bool
	why  func(item T) string
	// parked is the number of items that are held back.
	parked int
	// order numbers the items as they are parked. orders is indexed by slot id.
	order  uint64
	orders paged[uint64]
}

// showParked uses the metric Parked once, since a provider may make the metrics of a gate when one is used.
func (q *Queue[T]) showParked() {
	if q.gate != nil && q.metrics.Parked != nil {
		q.metrics.Parked.Inc()
		q.metrics.Parked.Dec()
	}
}

// park holds back the item of a slot if Config.Gate says so. Nothing is held back after the shutdown.
func (q *Queue[T]) park(id uint32) bool {
	if q.shutting || !q.gate.hold(q.table.at(id).item) {
		return false
	}
	g := q.gate
	g.orders.grow(int(id) + 1)
	g.order++
	*g.orders.at(int(id)) = g.order
	g.parked++
	q.table.at(id).state |= isParked
	q.metrics.parked(id)
	return true
}

// unpark makes the item of a slot neither parked nor ready.
func (q *Queue[T]) unpark(id uint32) {
	q.table.at(id).state &^= isParked
	q.gate.parked--
	q.metrics.unparked()
}

// makeReady makes the item of a slot ready without asking Config.Gate.
func (q *Queue[T]) makeReady(id uint32) {
	q.ready.push(id)
	q.table.at(id).state |= isReady
}

// Release makes an item ready that Config.Gate has held back, with the priority and the age that it has by
// then, and behind the items that are ready if the order is first in, first out. Gate isn't asked again.
// Release reports whether the item was held back.
func (q *Queue[T]) Release(item T) bool {
	q.mu.Lock()
	defer q.unlock()
	return q.release(item, "released")
}

// release makes a parked item ready, for a reason. The caller holds the lock.
func (q *Queue[T]) release(item T, reason string) bool {
	id := q.table.find(item)
	if id == 0 || q.table.at(id).state&isParked == 0 {
		return false
	}
	q.unpark(id)
	q.metrics.released(id)
	q.makeReady(id)
	q.note(id, reason)
	return true
}

// ReleaseLate is Release for an item that was held back for too long because of a cause. Status counts it.
func (q *Queue[T]) ReleaseLate(item T, cause string) bool {
	q.mu.Lock()
	defer q.unlock()
	if !q.release(item, "released after too long a wait for the "+cause) {
		return false
	}
	q.metrics.late()
	if q.late == nil {
		q.late = &late[T]{}
	}
	q.late.add(q.base.now(), item, cause)
	return true
}

// latePause is how long none must be released late until the next one begins a new series.
const latePause = 10 * time.Minute

// late is what Status tells of items that were released by ReleaseLate: how many, the last one with its
// cause, and when the first and the last of the series were.
type late[T comparable] struct {
	n           uint64
	item        T
	cause       string
	first, last int64
}

func (l *late[T]) add(now int64, item T, cause string) {
	if l.n == 0 || now-l.last > int64(latePause) {
		l.first = now
	}
	l.n++
	l.item, l.cause, l.last = item, cause, now
}

// releaseAll makes all parked items ready, in the order in which they were parked.
func (q *Queue[T]) releaseAll() {
	if q.gate == nil || q.gate.parked == 0 {
		return
	}
	ids := make([]uint32, 0, q.gate.parked)
	for id := uint32(1); int(id) <= q.table.slots.len(); id++ {
		if q.table.at(id).state&isParked != 0 {
			ids = append(ids, id)
		}
	}
	slices.SortFunc(ids, func(a, b uint32) int {
		return cmp.Compare(*q.gate.orders.at(int(a)), *q.gate.orders.at(int(b)))
	})
	for _, id := range ids {
		q.unpark(id)
		q.makeReady(id)
	}
}

// parked returns the number of items that are held back.
func (q *Queue[T]) parked() int {
	if q.gate == nil {
		return 0
	}
	return q.gate.parked
}

// Context returns the context for the processing of an item that was handed out: the result of
// Config.Context, or ctx if there is none. Whoever takes items with Get calls it, as function Run of package
// workqueue does.
func (q *Queue[T]) Context(ctx context.Context, item T) context.Context {
	if q.contextOf == nil {
		return ctx
	}
	return q.contextOf(ctx, item)
}

// Skips calls Config.Skip. If it returns true, an item isn't to be added because of an object's change: old
// is the object before, nil if the object is new.
func (q *Queue[T]) Skips(item T, old, changed any) bool {
	if q.skip == nil || !q.skip(item, old, changed) {
		return false
	}
	q.Note(item, "an echo of its own write was dropped")
	return true
}
