package queue

import (
	"cmp"
	"time"
)

// ready is the order in which items that are ready are handed out. It is
// guarded by the queue's lock and deals in slot ids.
type ready interface {
	len() int
	push(id uint32, priority int32)
	// touch hears that a ready item was added again, with its priority so
	// far and the new one.
	touch(id uint32, before, priority int32)
	pop() uint32
}

// fifo is first in, first out.
type fifo struct{ ids FIFO[uint32] }

func (f *fifo) len() int                   { return f.ids.Len() }
func (f *fifo) push(id uint32, _ int32)    { f.ids.Push(id) }
func (f *fifo) touch(uint32, int32, int32) {}
func (f *fifo) pop() uint32                { return f.ids.Pop() }

// prioritised hands out the highest priority first, where waiting counts: an
// item that became ready at t ranks by t - priority*ageing. All items age at
// the same pace, so the ranks of two items never change places, and a heap
// of ranks that stay as they are is enough.
type prioritised struct {
	ranks  *ranks
	ageing int64
	now    func() int64
	heap   heap
	n      int
}

// ranks is what is known of each slot of a queue with priorities, indexed by id
// and shared by all its heaps.
type ranks struct {
	of  paged[rank]
	seq uint32
}

type rank struct {
	// key and seq are those of the slot's node; a seq of 0 means that it is in
	// no heap.
	key int64
	seq uint32
	// priority is that of the copy that is ready or waits for Done.
	priority int32
}

func (p *prioritised) len() int { return p.n }

func (p *prioritised) push(id uint32, priority int32) {
	var since int64
	if p.ageing > 0 {
		since = p.now()
	}
	p.n++
	p.put(id, since-p.worth(int64(priority)))
}

func (p *prioritised) touch(id uint32, before, priority int32) {
	if priority > before {
		p.put(id, p.ranks.of.at(int(id)).key-p.worth(int64(priority)-int64(before)))
	}
}

func (p *prioritised) put(id uint32, key int64) {
	if p.ranks.seq++; p.ranks.seq == 0 {
		p.ranks.seq = 1
	}
	r := p.ranks.of.at(int(id))
	r.key, r.seq = key, p.ranks.seq
	p.heap.push(node{key: key, seq: p.ranks.seq, id: id})
	if p.heap.wasteful(p.n) {
		p.heap.compact(p.live)
	}
}

func (p *prioritised) pop() uint32 {
	for {
		if n := p.heap.pop(); p.live(n) {
			p.ranks.of.at(int(n.id)).seq = 0
			if p.n--; p.n == 0 {
				p.heap.reset() // the rest is stale
			}
			return n.id
		}
	}
}

func (p *prioritised) live(n node) bool { return p.ranks.of.at(int(n.id)).seq == n.seq }

// worth is what a priority counts in nanoseconds of waiting, and without
// ageing simply the priority.
func (p *prioritised) worth(priority int64) int64 {
	if p.ageing <= 0 {
		return priority
	}
	return priority * p.ageing
}

// fair gives each share that has something ready its turn, one item at a
// time. Within a share the order is that of its lane.
type fair struct {
	shareOf func(id uint32) string
	newLane func() ready
	lanes   map[string]*lane
	// laneOf is the lane of each ready slot, indexed by id: the share of its
	// item may be another by now.
	laneOf paged[*lane]
	// turns holds the lanes that have something ready, each once.
	turns FIFO[*lane]
	// idle lanes are kept for the next share that has something ready.
	idle []*lane
	n    int
}

type lane struct {
	ready
	share string
}

func (f *fair) len() int { return f.n }

func (f *fair) push(id uint32, priority int32) {
	share := f.shareOf(id)
	l := f.lanes[share]
	if l == nil {
		l = f.open(share)
	}
	f.laneOf.grow(int(id) + 1)
	*f.laneOf.at(int(id)) = l
	l.push(id, priority)
	f.n++
}

func (f *fair) touch(id uint32, before, priority int32) {
	(*f.laneOf.at(int(id))).touch(id, before, priority)
}

func (f *fair) pop() uint32 {
	l := f.turns.Pop()
	id := l.pop()
	f.n--
	if l.len() > 0 {
		f.turns.Push(l)
	} else {
		delete(f.lanes, l.share)
		l.share = ""
		f.idle = append(f.idle, l)
	}
	return id
}

// giveBack gives back what a burst took. Nothing is ready; a map never becomes
// smaller by itself.
func (f *fair) giveBack() {
	f.lanes, f.laneOf, f.idle = map[string]*lane{}, paged[*lane]{}, nil
}

// open makes the lane of a share that had nothing ready, last in turn.
func (f *fair) open(share string) *lane {
	var l *lane
	if last := len(f.idle) - 1; last >= 0 {
		l = f.idle[last]
		f.idle = f.idle[:last]
	} else {
		l = &lane{ready: f.newLane()}
	}
	l.share = share
	f.lanes[share] = l
	f.turns.Push(l)
	return l
}

// hooked leaves the order to an Order of the caller, which deals in items.
type hooked[T comparable] struct {
	queue *Queue[T]
	order Order[T]
}

func (h *hooked[T]) len() int                    { return h.order.Len() }
func (h *hooked[T]) push(id uint32, _ int32)     { h.order.Push(h.queue.table.at(id).item) }
func (h *hooked[T]) touch(id uint32, _, _ int32) { h.order.Touch(h.queue.table.at(id).item) }

// pop takes an item that was never pushed as it comes: an Order may put items
// in of its own accord.
func (h *hooked[T]) pop() uint32 {
	item := h.order.Pop()
	return h.queue.table.slotOf(h.queue.table.hash(item), item)
}

// order makes what the configuration asks for.
func (q *Queue[T]) order(c *Config[T]) ready {
	if c.Order != nil {
		if c.Share != nil || c.prioritised() {
			panic("queue: a Config with an Order has no Priority, Ageing or Share: the order is the Order's")
		}
		return &hooked[T]{q, c.Order}
	}
	newLane := func() ready { return new(fifo) }
	if c.prioritised() {
		ageing := min(cmp.Or(c.Ageing, DefaultAgeing), maxAgeing)
		q.ranks = new(ranks)
		newLane = func() ready {
			return &prioritised{ranks: q.ranks, ageing: int64(ageing), now: q.base.now}
		}
	}
	if c.Share == nil {
		return newLane()
	}
	return &fair{
		shareOf: func(id uint32) string { return c.Share(q.table.at(id).item) },
		newLane: newLane,
		lanes:   map[string]*lane{},
	}
}

// DefaultAgeing is the waiting that counts as much as one step of priority
// unless a Config says otherwise. With it, an item of priority -100, where
// controllers put what an initial list or a resync brings, goes before new
// items of priority 0 after it has waited 100 seconds.
const DefaultAgeing = time.Second

// Beyond these the rank of an item could overflow: twice maxPriority times
// maxAgeing is 228 years.
const (
	maxPriority = 1_000_000
	maxAgeing   = time.Hour
)
