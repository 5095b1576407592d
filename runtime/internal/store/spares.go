package store

import "sync/atomic"

// readers counts those who read snapshots that end. New ones join one of two
// counts while the other runs out; then the counts change roles. What writers
// had replaced when the roles changed last but one, nobody reads any more.
type readers struct {
	counts [2]atomic.Int64
	// joining is the count that new readers join. It changes while none can.
	joining int
}

func (r *readers) join() *atomic.Int64 {
	count := &r.counts[r.joining]
	count.Add(1)
	return count
}

// none says that there is no reader.
func (r *readers) none() bool { return r.counts[0].Load() == 0 && r.counts[1].Load() == 0 }

// turn changes the roles, if possible.
func (r *readers) turn() bool {
	if r.counts[1-r.joining].Load() > 0 {
		return false
	}
	r.joining = 1 - r.joining
	return true
}

// spares are what writers replaced by copies, kept for the next copies: writes
// that allocate nothing don't help the garbage collector either, which at times
// takes milliseconds.
type spares[E any] struct {
	// unread are free. What was replaced before readers last changed roles waits
	// for them to do so again; what was replaced since waits for it twice.
	unread, waiting, replaced []E
}

// keep takes one more, unless there are as many as limit.
func (s *spares[E]) keep(e E, limit int) {
	if len(s.unread)+len(s.waiting)+len(s.replaced) < limit {
		s.replaced = append(s.replaced, e)
	}
}

// turn follows readers.turn.
func (s *spares[E]) turn() {
	s.unread = append(s.unread, s.waiting...)
	clear(s.waiting)
	s.waiting, s.replaced = s.replaced, s.waiting[:0]
}

// take returns one that nobody reads.
func (s *spares[E]) take() (e E, ok bool) {
	last := len(s.unread) - 1
	if last < 0 {
		return e, false
	}
	e, s.unread[last] = s.unread[last], e
	s.unread = s.unread[:last]
	return e, true
}
