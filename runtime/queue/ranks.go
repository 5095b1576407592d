package queue

import "math"

// ranks are the ranks of all slots of a queue with priorities, indexed by id and shared by its flows.
// An item of a priority that was added at t ranks by t - priority*ageing, the lowest rank first. All
// items age at the same pace, so two items never change places, and a heap of constant ranks is enough.
// Items of equal rank go in the order in which they were added or raised.
type ranks struct {
	of  paged[rank]
	seq uint32
	// ageing is 0 or less when waiting counts for nothing.
	ageing int64
	now    func() int64
}

type rank struct {
	// key and seq are those of the slot's node, if it is in a heap. seq is 0 unless the item is ready
	// or waits for Done.
	key      int64
	seq      uint32
	priority int32
}

// enter gives a slot its rank when its item is added. An item in process gets its rank then, too, not with
// its Done: so it isn't put behind the items that are added while it is in process.
func (r *ranks) enter(id uint32, priority int32) {
	var since int64
	if r.ageing > 0 {
		since = r.now()
	}
	r.of.grow(int(id) + 1)
	*r.of.at(int(id)) = rank{key: since - r.worth(int64(priority)), seq: r.next(), priority: priority}
}

// raise raises the priority of a slot that has a rank. It returns the previous one, and whether that
// was lower.
func (r *ranks) raise(id uint32, priority int32) (before int32, raised bool) {
	s := r.of.at(int(id))
	before = s.priority
	if priority <= before {
		return before, false
	}
	s.key -= r.worth(int64(priority) - int64(before))
	s.seq, s.priority = r.next(), priority
	return before, true
}

func (r *ranks) priority(id uint32) int32 { return r.of.at(int(id)).priority }

// clamp limits a priority to the range that doesn't overflow a rank.
func (r *ranks) clamp(priority int) int32 {
	limit := math.MaxInt32
	if r.ageing > 0 {
		limit = maxPriority
	}
	return int32(min(max(priority, -limit), limit))
}

// worth converts a priority to nanoseconds of waiting. Without ageing it returns the priority itself.
func (r *ranks) worth(priority int64) int64 {
	if r.ageing <= 0 {
		return priority
	}
	return priority * r.ageing
}

func (r *ranks) next() uint32 {
	if r.seq++; r.seq == 0 {
		r.seq = 1
	}
	return r.seq
}
