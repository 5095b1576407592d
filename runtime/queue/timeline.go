package queue

import "math"

// never is later than any due time.
const never = math.MaxInt64

// timeline knows which slots are due when, in nanoseconds of the queue's
// clock. Equal times keep the order in which they were set.
type timeline struct {
	heap heap
	// at is indexed by id, as long as the highest id ever set; a seq of 0
	// means that the slot is not due at any time.
	at  paged[moment]
	n   int
	seq uint32
}

type moment struct {
	due      int64
	seq      uint32
	priority int32
}

func (t *timeline) has(id uint32) bool {
	return int(id) < t.at.len() && t.at.at(int(id)).seq != 0
}

// due returns when the slot is due, or never.
func (t *timeline) due(id uint32) int64 {
	if !t.has(id) {
		return never
	}
	return t.at.at(int(id)).due
}

// priority is what a slot that is due at some time was set with.
func (t *timeline) priority(id uint32) int32 { return t.at.at(int(id)).priority }

// set makes the slot due, and tells whether that is news: of two times the
// earlier stays, of two priorities the higher.
func (t *timeline) set(id uint32, due int64, priority int32) bool {
	t.at.grow(int(id) + 1)
	m := t.at.at(int(id))
	if m.seq != 0 {
		m.priority = max(m.priority, priority)
		if m.due <= due {
			return false
		}
	} else {
		m.priority = priority
		t.n++
	}
	if t.seq++; t.seq == 0 {
		t.seq = 1
	}
	m.due, m.seq = due, t.seq
	t.heap.push(node{key: due, seq: t.seq, id: id})
	t.tidy()
	return true
}

// cancel takes the slot off the timeline and tells whether it was on it.
func (t *timeline) cancel(id uint32) bool {
	if !t.has(id) {
		return false
	}
	t.at.at(int(id)).seq = 0
	t.n--
	t.tidy()
	return true
}

// next returns the earliest due time, or never.
func (t *timeline) next() int64 {
	for len(t.heap.nodes) > 0 {
		if first := t.heap.nodes[0]; t.live(first) {
			return first.key
		}
		t.heap.pop()
	}
	return never
}

// pop takes off the slot that is due first, with the priority that it was set
// with; 0 when none is due by now.
func (t *timeline) pop(now int64) (id uint32, priority int32) {
	if t.next() > now {
		return 0, 0
	}
	n := t.heap.pop()
	priority = t.at.at(int(n.id)).priority
	t.cancel(n.id)
	return n.id, priority
}

// clear forgets everything and hands each slot that was due to f.
func (t *timeline) clear(f func(id uint32)) {
	at := t.at
	*t = timeline{}
	for id := range at.len() {
		if at.at(id).seq != 0 {
			f(uint32(id))
		}
	}
}

func (t *timeline) live(n node) bool { return t.at.at(int(n.id)).seq == n.seq }

// tidy drops stale nodes when there are many, and everything large when
// nothing is left.
func (t *timeline) tidy() {
	if t.heap.wasteful(t.n) {
		t.heap.compact(t.live)
	}
	if t.n == 0 && t.at.len() > keepSlots {
		t.heap, t.at = heap{}, paged[moment]{}
	}
}
