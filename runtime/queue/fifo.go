package queue

// FIFO is an Order that hands out first what came in first; the zero value is
// empty. It grows as needed, and gives back what it no longer needs. It is not
// safe for concurrent use.
type FIFO[T any] struct {
	// ring has a power of two as its length.
	ring    []T
	head, n int
	// peak is the highest n since the ring was last empty.
	peak int
}

// Len returns the number of items.
func (f *FIFO[T]) Len() int { return f.n }

// Touch does nothing: being added again doesn't change an item's turn.
func (f *FIFO[T]) Touch(T) {}

// Push appends an item.
func (f *FIFO[T]) Push(item T) {
	if f.n == len(f.ring) {
		ring := make([]T, max(8, 2*len(f.ring)))
		n := copy(ring, f.ring[f.head:])
		copy(ring[n:], f.ring[:f.head])
		f.ring, f.head = ring, 0
	}
	f.ring[(f.head+f.n)&(len(f.ring)-1)] = item
	f.n++
	f.peak = max(f.peak, f.n)
}

// Pop removes the first item. It panics when there is none.
func (f *FIFO[T]) Pop() T {
	if f.n == 0 {
		panic("queue: Pop of an empty FIFO")
	}
	var none T
	item := f.ring[f.head]
	f.ring[f.head] = none
	f.head = (f.head + 1) & (len(f.ring) - 1)
	if f.n--; f.n == 0 {
		if len(f.ring) > keepSlots && f.peak*8 < len(f.ring) {
			f.ring, f.head = nil, 0
		}
		f.peak = 0
	}
	return item
}
