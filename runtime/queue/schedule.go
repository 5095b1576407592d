package queue

import "math"

// never is later than any due time.
const never = math.MaxInt64

// deliveryBurst is the number of due items that are delivered under one hold of the lock, so that a
// million of them don't block other callers for long.
const deliveryBurst = 128

// schedule holds the due time of each delayed slot, in nanoseconds of the queue's clock, and sets an
// alarm for the earliest. Slots that are due at the same time keep the order in which they were set.
// It is guarded by the lock of its owner.
type schedule struct {
	heap heap
	// moments is indexed by slot id. It grows up to the highest id; tidy frees it.
	moments paged[moment]
	// n is the number of delayed slots. seq numbers the calls of set that change a time.
	n   int
	seq uint32

	alarm alarm
	// armed is the time that the alarm is set for, never when it isn't set.
	armed int64
	// ringing is true during a delivery, which sets the alarm at its end.
	ringing bool
}

// moment is when a slot is due, and with which priority it was delayed. Its seq is that of its node
// in the heap, 0 if the slot isn't delayed.
type moment struct {
	due      int64
	seq      uint32
	priority int32
}

func newSchedule(base *timebase, ring func()) schedule {
	return schedule{alarm: alarm{base: base, ring: ring}, armed: never}
}

func (s *schedule) has(id uint32) bool {
	return int(id) < s.moments.len() && s.moments.at(int(id)).seq != 0
}

// due returns when the slot is due, or never.
func (s *schedule) due(id uint32) int64 {
	if !s.has(id) {
		return never
	}
	return s.moments.at(int(id)).due
}

// priority returns the priority of a delayed slot.
func (s *schedule) priority(id uint32) int32 { return s.moments.at(int(id)).priority }

// set delays the slot. If it is delayed already, the earlier time and the higher priority count. It
// reports whether the time has changed; then the caller must call arm.
func (s *schedule) set(id uint32, due int64, priority int32) bool {
	s.moments.grow(int(id) + 1)
	m := s.moments.at(int(id))
	if m.seq != 0 {
		m.priority = max(m.priority, priority)
		if m.due <= due {
			return false
		}
	} else {
		m.priority = priority
		s.n++
	}
	if s.seq++; s.seq == 0 {
		s.seq = 1
	}
	m.due, m.seq = due, s.seq
	s.heap.push(node{key: due, seq: s.seq, id: id})
	s.tidy()
	return true
}

// cancel removes the slot and reports whether it was there. The caller must call arm.
func (s *schedule) cancel(id uint32) bool {
	if !s.has(id) {
		return false
	}
	s.moments.at(int(id)).seq = 0
	s.n--
	s.tidy()
	return true
}

// next returns the earliest due time, or never.
func (s *schedule) next() int64 {
	for len(s.heap.nodes) > 0 {
		if first := s.heap.nodes[0]; s.live(first) {
			return first.key
		}
		s.heap.pop()
	}
	return never
}

// pop removes the slot that is due first and returns it with its priority; the id is 0 when none is
// due by now.
func (s *schedule) pop(now int64) (id uint32, priority int32) {
	if s.next() > now {
		return 0, 0
	}
	n := s.heap.pop()
	priority = s.moments.at(int(n.id)).priority
	s.cancel(n.id)
	return n.id, priority
}

func (s *schedule) live(n node) bool { return s.moments.at(int(n.id)).seq == n.seq }

// tidy drops stale nodes when there are many, and frees the memory of a burst when nothing is left.
func (s *schedule) tidy() {
	if s.heap.wasteful(s.n) {
		s.heap.compact(s.live)
	}
	if s.n == 0 && s.moments.len() > keepSlots {
		s.heap, s.moments = heap{}, paged[moment]{}
	}
}

// arm sets the alarm for the next slot, or stops it when there is none.
func (s *schedule) arm() {
	if s.ringing {
		return
	}
	next := s.next()
	switch next {
	case s.armed:
		return
	case never:
		s.alarm.stop()
	default:
		s.alarm.set(next)
	}
	s.armed = next
}

// startDelivery reports whether the caller must deliver what is due. It returns false if a delivery runs
// already.
func (s *schedule) startDelivery() bool {
	if s.ringing {
		return false
	}
	s.ringing, s.armed = true, never
	return true
}

func (s *schedule) endDelivery() {
	s.ringing = false
	s.arm()
}

// stop removes all slots, passes each to f, and stops the alarm.
func (s *schedule) stop(f func(id uint32)) {
	moments := s.moments
	s.heap, s.moments, s.n = heap{}, paged[moment]{}, 0
	for id := range moments.len() {
		if moments.at(id).seq != 0 {
			f(uint32(id))
		}
	}
	s.alarm.stop()
	s.armed = never
}
