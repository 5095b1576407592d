package queue

import (
	"cmp"
	"time"

	"k8s.io/client-go/util/workqueue"
)

// ready is the order in which ready items are handed out, by slot id. It is guarded by the queue's
// lock.
type ready interface {
	len() int
	push(id uint32)
	// touch is called when a ready item is added again. raised reports whether that raised its priority.
	touch(id uint32, raised bool)
	pop() uint32
	// before returns how many items come before a ready one, if nothing is added, -1 if that isn't known. It
	// looks at all of them.
	before(id uint32) int
}

// newReady returns the order that the Config selects.
func (q *Queue[T]) newReady(c *Config[T]) ready {
	if c.Order != nil {
		if c.Flow != nil || c.prioritised() {
			panic("queue: Config.Order can't be combined with Priority, Ageing or Flow")
		}
		return &custom[T]{q, c.Order}
	}
	newFlow := func() ready { return new(fifo) }
	if c.prioritised() {
		ageing := min(cmp.Or(c.Ageing, defaultAgeing), maxAgeing)
		q.ranks = &ranks{ageing: int64(ageing), now: q.base.now}
		newFlow = func() ready { return &prioritised{ranks: q.ranks} }
	}
	if c.Flow == nil {
		return newFlow()
	}
	return &fair{
		flowOf:  func(id uint32) string { return c.Flow(q.table.at(id).item) },
		newFlow: newFlow,
		flows:   map[string]*flow{},
	}
}

const (
	// With defaultAgeing an item of priority -100, which controllers use for items from an initial list or
	// a resync, goes before new items of priority 0 when it has waited 100 seconds.
	defaultAgeing = time.Second
	// Beyond these two the rank of an ageing item could overflow: twice their product is 228 years.
	maxPriority = 1_000_000
	maxAgeing   = time.Hour
)

// fifo is first in, first out.
type fifo struct{ ids ring[uint32] }

func (f *fifo) len() int           { return f.ids.n }
func (f *fifo) push(id uint32)     { f.ids.push(id) }
func (f *fifo) touch(uint32, bool) {}
func (f *fifo) pop() uint32        { return f.ids.pop() }

func (f *fifo) before(id uint32) (n int) {
	for other := range f.ids.all {
		if other == id {
			break
		}
		n++
	}
	return n
}

// prioritised hands out the item that ranks first.
type prioritised struct {
	ranks *ranks
	heap  heap
	n     int
}

func (p *prioritised) len() int { return p.n }

func (p *prioritised) push(id uint32) {
	p.n++
	p.put(id)
}

func (p *prioritised) touch(id uint32, raised bool) {
	if raised {
		p.put(id)
	}
}

func (p *prioritised) put(id uint32) {
	r := p.ranks.of.at(int(id))
	p.heap.push(node{key: r.key, seq: r.seq, id: id})
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

func (p *prioritised) before(id uint32) (n int) {
	r := p.ranks.of.at(int(id))
	for _, other := range p.heap.nodes {
		if p.live(other) && other.before(node{key: r.key, seq: r.seq}) {
			n++
		}
	}
	return n
}

func (p *prioritised) live(n node) bool { return p.ranks.of.at(int(n.id)).seq == n.seq }

// fair lets the flows that have ready items take turns, one item each.
type fair struct {
	flowOf  func(id uint32) string
	newFlow func() ready
	// flows are those with ready items, by name.
	flows map[string]*flow
	// flowAt is the flow of each ready slot, indexed by id: Config.Flow may return another one by now.
	flowAt paged[*flow]
	// turns holds each of flows once.
	turns ring[*flow]
	// idle flows are kept for reuse.
	idle []*flow
	n    int
}

type flow struct {
	ready
	name string
}

func (f *fair) len() int { return f.n }

func (f *fair) push(id uint32) {
	name := f.flowOf(id)
	fl := f.flows[name]
	if fl == nil {
		fl = f.open(name)
	}
	f.flowAt.grow(int(id) + 1)
	*f.flowAt.at(int(id)) = fl
	fl.push(id)
	f.n++
}

func (f *fair) touch(id uint32, raised bool) { (*f.flowAt.at(int(id))).touch(id, raised) }

func (f *fair) pop() uint32 {
	fl := f.turns.pop()
	id := fl.pop()
	f.n--
	if fl.len() > 0 {
		f.turns.push(fl)
	} else {
		delete(f.flows, fl.name)
		fl.name = ""
		f.idle = append(f.idle, fl)
	}
	return id
}

func (f *fair) before(id uint32) int {
	own := *f.flowAt.at(int(id))
	n := own.before(id)
	turns := n + 1 // that each flow gets before it, those behind its own one less
	for other := range f.turns.all {
		if other == own {
			turns--
		} else {
			n += min(turns, other.len())
		}
	}
	return n
}

// giveBack frees the memory of a burst; a map never shrinks by itself. Nothing may be ready.
func (f *fair) giveBack() {
	f.flows, f.flowAt, f.idle = map[string]*flow{}, paged[*flow]{}, nil
}

// open returns the flow of a name that had nothing ready. Its turn comes last.
func (f *fair) open(name string) *flow {
	var fl *flow
	if last := len(f.idle) - 1; last >= 0 {
		fl = f.idle[last]
		f.idle = f.idle[:last]
	} else {
		fl = &flow{ready: f.newFlow()}
	}
	fl.name = name
	f.flows[name] = fl
	f.turns.push(fl)
	return fl
}

// custom is the order of Config.Order, which handles items instead of slot ids.
type custom[T comparable] struct {
	queue *Queue[T]
	order workqueue.Queue[T]
}

func (c *custom[T]) len() int                { return c.order.Len() }
func (c *custom[T]) push(id uint32)          { c.order.Push(c.queue.table.at(id).item) }
func (c *custom[T]) touch(id uint32, _ bool) { c.order.Touch(c.queue.table.at(id).item) }
func (c *custom[T]) before(uint32) int       { return -1 }

// pop also accepts an item that was never pushed: an order may add items of its own accord.
func (c *custom[T]) pop() uint32 {
	item := c.order.Pop()
	return c.queue.table.slotOf(item)
}

// ring is a growing ring buffer: first in, first out. When it becomes empty, it frees the memory of a burst.
type ring[T any] struct {
	// items has a power of two as its length.
	items   []T
	head, n int
	// peak is the highest n since the ring was last empty.
	peak int
}

func (r *ring[T]) push(item T) {
	if r.n == len(r.items) {
		items := make([]T, max(8, 2*len(r.items)))
		n := copy(items, r.items[r.head:])
		copy(items[n:], r.items[:r.head])
		r.items, r.head = items, 0
	}
	r.items[(r.head+r.n)&(len(r.items)-1)] = item
	r.n++
	r.peak = max(r.peak, r.n)
}

// pop removes the first item. The ring must not be empty.
func (r *ring[T]) pop() T {
	var none T
	item := r.items[r.head]
	r.items[r.head] = none
	r.head = (r.head + 1) & (len(r.items) - 1)
	if r.n--; r.n == 0 {
		if len(r.items) > keepSlots && r.peak*8 < len(r.items) {
			r.items, r.head = nil, 0
		}
		r.peak = 0
	}
	return item
}

// all yields the items in their order.
func (r *ring[T]) all(yield func(T) bool) {
	for i := range r.n {
		if !yield(r.items[(r.head+i)&(len(r.items)-1)]) {
			return
		}
	}
}
