package limits

import (
	"context"
	"slices"
	"sync"

	"github.com/kubewright/kubewright/runtime/internal/sources"
)

// budget is the number of bytes that slots share. Waiting slots only go on when another slot ends.
type budget struct {
	bytes int64

	mu   sync.Mutex
	held int64
	// holders are the slots with bytes, in the order in which they got the
	// first of them: the senior is at the front.
	holders []*Slot
	// changed is closed when a slot ends, nil if nobody waits for that.
	changed chan struct{}
}

// Slot is what a list has of a limiter while the list is read: one of its slots, and the bytes
// that it has decoded. Only Counts, Pause, Resume and End may be called on nil.
type Slot struct {
	limiter *Limiter
	once    sync.Once

	// bytes and ended are guarded by the budget's mutex.
	bytes int64
	ended bool

	mu sync.Mutex
	// stay cancels EndWith. It returns false if the slot has ended.
	stay func() bool
}

// Counts reports whether there is a budget.
func (s *Slot) Counts() bool { return s != nil && s.limiter.budget != nil }

// Wait blocks while the budget is exceeded, unless the slot is the senior. It returns
// ctx's error when ctx is done, and nil when the slot has ended: its end also ends the
// reading.
func (s *Slot) Wait(ctx context.Context) error {
	b := s.limiter.budget
	changed := b.changedFor(s)
	if changed == nil {
		return nil
	}
	defer sources.Waits(ctx)()
	for ; changed != nil; changed = b.changedFor(s) {
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// changedFor returns a channel that is closed when s may be able to go on, nil if s may go
// on now.
func (b *budget) changedFor(s *Slot) <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.held <= b.bytes || b.holders[0] == s || s.ended {
		return nil
	}
	if b.changed == nil {
		b.changed = make(chan struct{})
	}
	return b.changed
}

// Charge counts an item whose text has size bytes.
func (s *Slot) Charge(size int) {
	b := s.limiter.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	if s.ended {
		return
	}
	if s.bytes == 0 {
		b.holders = append(b.holders, s)
	}
	s.bytes += int64(size)
	b.held += int64(size)
}

func (b *budget) release(s *Slot) {
	b.mu.Lock()
	defer b.mu.Unlock()
	s.ended = true
	if at := slices.Index(b.holders, s); at >= 0 {
		b.holders = slices.Delete(b.holders, at, at+1)
	}
	b.held -= s.bytes
	s.bytes = 0
	if b.changed != nil {
		close(b.changed)
		b.changed = nil
	}
}

// Pause keeps the slot for the next page, or until ctx is done. It returns false if
// there is no budget: then the slot isn't kept.
func (s *Slot) Pause(ctx context.Context) bool {
	if !s.Counts() {
		return false
	}
	s.EndWith(ctx)
	return true
}

// Resume ends a pause. It returns false if the slot has ended.
func (s *Slot) Resume() bool {
	if s == nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stay()
}

// EndWith ends the slot when ctx is done.
func (s *Slot) EndWith(ctx context.Context) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stay = context.AfterFunc(ctx, s.End)
}

// End returns everything to the limiter. Only the first call has an effect.
func (s *Slot) End() {
	if s == nil {
		return
	}
	s.once.Do(func() {
		s.mu.Lock()
		stay := s.stay
		s.mu.Unlock()
		if stay != nil {
			stay()
		}
		if s.limiter.budget != nil {
			s.limiter.budget.release(s)
		}
		<-s.limiter.slots
	})
}
