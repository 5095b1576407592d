package queue

import "runtime"

// schedule is a timeline with the alarm that rings when its next slot is due.
type schedule struct {
	timeline
	alarm alarm
	// armed is the time that the alarm is set for, never when it isn't.
	armed int64
	// ringing tells that what is due is being delivered; the alarm is set
	// again at the end of that.
	ringing bool
}

func newSchedule(base *timebase, ring func()) schedule {
	return schedule{alarm: alarm{base: base, ring: ring}, armed: never}
}

// deliveryBurst is the number of due items that are added under one hold of
// the lock, so that a million of them don't lock everyone else out.
const deliveryBurst = 128

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

// rung begins a delivery, unless one is under way.
func (s *schedule) rung() bool {
	if s.ringing {
		return false
	}
	s.ringing, s.armed = true, never
	return true
}

// end ends a delivery.
func (s *schedule) end() {
	s.ringing = false
	s.arm()
}

// stop forgets everything. f gets each slot that was due at some time.
func (s *schedule) stop(f func(id uint32)) {
	s.clear(f)
	s.alarm.stop()
	s.armed = never
}

// deliver adds what is due. It is the alarm's function.
func (q *Queue[T]) deliver() {
	q.mu.Lock()
	if !q.delays.rung() {
		q.mu.Unlock()
		return
	}
	for {
		now := q.base.now()
		n := 0
		for ; n < deliveryBurst; n++ {
			id, priority := q.delays.pop(now)
			if id == 0 {
				break
			}
			q.add(id, priority)
		}
		if n < deliveryBurst {
			q.delays.end()
			q.unlock()
			return
		}
		q.unlock()
		runtime.Gosched()
		q.mu.Lock()
	}
}
