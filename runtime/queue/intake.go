package queue

import "reflect"

// arrival is a delayed item that waits in the intake.
type arrival[T comparable] struct {
	item T
	due  int64
	// kept, hash and id are found out in enter; kept is when the item was due
	// before, never unless it was.
	kept     int64
	hash, id uint32
	priority int32
}

// Once so many items are delayed, those that are added wait until there are
// intakeSize of them, or until somebody needs to know. Each takes five places in
// memory that nothing has in a cache by then: the item itself, what it refers to,
// its cell, its slot and its due time. For a batch a processor waits for many of
// them at once, where one item after the other waits for each.
const (
	intakeFrom = 4096
	intakeSize = 32
)

// takeIn puts an item in the intake. There must be others that are delayed.
func (q *Queue[T]) takeIn(item T, due int64, priority int32) {
	if q.intake == nil {
		q.intake = make([]arrival[T], 0, intakeSize)
	}
	q.intake = append(q.intake, arrival[T]{item: item, due: due, priority: priority})
	q.delays.armBy(due)
	if len(q.intake) == intakeSize {
		q.enter()
	}
}

// enter empties the intake. Whatever takes something off the schedule calls it
// first, so the order in which items were added is kept.
func (q *Queue[T]) enter() {
	if len(q.intake) == 0 {
		return
	}
	// Loops this small overlap in the processor.
	for i := range q.intake {
		a := &q.intake[i]
		a.hash = q.table.hash(a.item)
	}
	q.table.guess(q.intake)
	for i := range q.intake {
		a := &q.intake[i]
		a.kept = q.delays.due(a.id)
	}
	for i := range q.intake {
		a := &q.intake[i]
		if a.id == 0 || q.table.at(a.id).item != a.item {
			a.id = q.table.slotOf(a.hash, a.item)
		} else if a.kept <= a.due && q.ranks == nil {
			continue
		}
		q.delays.set(a.id, a.due, a.priority)
	}
	clear(q.intake)
	q.intake = q.intake[:0]
	q.delays.arm()
}

// guess sets the id of each arrival, which has its hash, to that of its slot if
// it has one, most probably, or to 0: it doesn't look at the items. The table
// must not be empty.
func (t *table[T, V]) guess(arrivals []arrival[T]) {
	for i := range arrivals {
		a := &arrivals[i]
		a.id = t.cells[t.home(a.hash)]
	}
	mask := uint32(1)<<t.width - 1
	for i := range arrivals {
		a := &arrivals[i]
		tag := a.hash << t.width
		cell := a.id
		for c := t.home(a.hash); cell != 0 && (cell^tag)&^mask != 0; cell = t.cells[c] {
			c = t.next(c)
		}
		a.id = cell & mask
	}
	for i := range arrivals {
		if a := &arrivals[i]; a.id != 0 && t.at(a.id).hash != a.hash {
			a.id = 0
		}
	}
}

// alwaysHashable tells that each value of a type can be hashed. Where that isn't
// so, an item that can't is the panic of who adds it, and must not be found out
// later.
func alwaysHashable(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Interface:
		return false
	case reflect.Array:
		return alwaysHashable(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			if !alwaysHashable(t.Field(i).Type) {
				return false
			}
		}
	}
	return true
}
