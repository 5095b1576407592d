package queue

// table maps items to slots. A slot has an id, counted from 1, that it keeps until remove. Other data
// of an item (when it is due, how it ranks) lie in arrays indexed by id, which exist only in queues that
// need them.
type table[T comparable] struct {
	ids   map[T]uint32
	slots paged[slot[T]]
	// free holds the ids of vacated slots; the last one is reused first.
	free []uint32
}

type slot[T comparable] struct {
	item  T
	state state
}

// state is the table's data of an item; the schedule has the delayed items. An item that is neither ready,
// nor parked, nor in process, nor delayed has no slot.
type state uint8

const (
	// isReady: waiting for Get.
	isReady state = 1 << iota
	// inProcess: between Get and Done.
	inProcess
	// again: added while in process, ready with Done.
	again
	// isParked: held back by Config.Gate.
	isParked
	// isKept: the history has a line of it. An item of which only that holds has no slot.
	isKept
	// waits: an addition doesn't change the state.
	waits = isReady | again | isParked
)

// keepSlots is the length up to which arrays are never freed.
const keepSlots = 1024

func newTable[T comparable]() table[T] { return table[T]{ids: map[T]uint32{}} }

// at returns the slot of id. The pointer is valid until the next slotOf.
func (t *table[T]) at(id uint32) *slot[T] { return t.slots.at(int(id) - 1) }

// find returns the id of item, or 0.
func (t *table[T]) find(item T) uint32 { return t.ids[item] }

// slotOf returns the id of item, and gives it a slot with a zero state if it has none.
func (t *table[T]) slotOf(item T) uint32 {
	id := t.ids[item]
	if id != 0 {
		return id
	}
	if last := len(t.free) - 1; last >= 0 {
		id = t.free[last]
		t.free = t.free[:last]
	} else {
		t.slots.grow(t.slots.len() + 1)
		id = uint32(t.slots.len())
	}
	t.ids[item] = id
	t.at(id).item = item
	return id
}

// remove vacates the slot of id. It reports whether the table is empty now and has freed the memory of a
// burst: then the caller drops its arrays that are indexed by id.
func (t *table[T]) remove(id uint32) (givenBack bool) {
	delete(t.ids, t.at(id).item)
	*t.at(id) = slot[T]{}
	t.free = append(t.free, id)
	return len(t.free) == t.slots.len() && t.emptied()
}

// emptied starts with id 1 again. If less than an eighth of the slots was used since the table was last
// empty, it frees its memory: a single burst must not hold memory for ever, and regular bursts must not
// allocate each time.
func (t *table[T]) emptied() (givenBack bool) {
	givenBack = t.slots.cap() > keepSlots && t.slots.len()*8 < t.slots.cap()
	if givenBack {
		*t = newTable[T]()
	} else {
		t.slots.reset()
		t.free = t.free[:0]
	}
	return givenBack
}

// paged is a slice that grows without being copied, since it grows with the queue's lock held: a
// million slots are 24 MB. The first page starts small and doubles, so a small queue stays small.
type paged[E any] struct {
	pages [][]E
	n     int
}

const pageSize = 256

func (p *paged[E]) len() int { return p.n }

// cap returns the length up to which p grows without another page.
func (p *paged[E]) cap() int { return len(p.pages) * pageSize }

// at returns element i. The pointer is valid until the next grow.
func (p *paged[E]) at(i int) *E { return &p.pages[uint(i)/pageSize][uint(i)%pageSize] }

// grow makes the length at least n. New elements are zero, but elements from before a reset keep their
// values.
func (p *paged[E]) grow(n int) {
	for p.n < n {
		if page := p.n / pageSize; page == len(p.pages) {
			p.addPage()
		} else if p.n%pageSize == len(p.pages[page]) {
			larger := make([]E, min(2*len(p.pages[page]), pageSize))
			copy(larger, p.pages[page])
			p.pages[page] = larger
		}
		p.n++
	}
}

func (p *paged[E]) addPage() {
	size := pageSize
	if len(p.pages) == 0 {
		size = 8
	}
	p.pages = append(p.pages, make([]E, size))
}

// reset makes the length 0 and keeps the pages.
func (p *paged[E]) reset() { p.n = 0 }
