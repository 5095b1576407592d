package limits

import (
	"context"
	"slices"
	"sync"

	"github.com/kubewright/kubewright/runtime/internal/sources"
)

// budget is the number of bytes that leases share. Waiting leases only go on when another lease ends.
type budget struct {
	bytes int64

	mu   sync.Mutex
	held int64
	// holders are the leases with bytes, in the order in which they got the
	// first of them: the senior is at the front.
	holders []*Lease
	// changed is closed when a lease ends, nil if nobody waits for that.
	changed chan struct{}
}

// Lease is a list's share of a limiter while the list is read: a place, and the bytes
// that it has decoded. Only Counts, Pause, Resume and End may be called on nil.
type Lease struct {
	limiter *Limiter
	once    sync.Once

	// bytes and ended are guarded by the budget's mutex.
	bytes int64
	ended bool

	mu sync.Mutex
	// stay cancels EndWith. It returns false if the lease has ended.
	stay func() bool
}

// Counts reports whether there is a budget.
func (l *Lease) Counts() bool { return l != nil && l.limiter.budget != nil }

// Wait blocks while the budget is exceeded, unless the lease is the senior. It returns
// ctx's error when ctx is done, and nil when the lease has ended: its end also ends the
// reading.
func (l *Lease) Wait(ctx context.Context) error {
	b := l.limiter.budget
	changed := b.change(l)
	if changed == nil {
		return nil
	}
	defer sources.Waits(ctx)()
	for ; changed != nil; changed = b.change(l) {
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// change returns a channel that is closed when l may be able to go on, nil if l may go
// on now.
func (b *budget) change(l *Lease) <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.held <= b.bytes || b.holders[0] == l || l.ended {
		return nil
	}
	if b.changed == nil {
		b.changed = make(chan struct{})
	}
	return b.changed
}

// Charge counts an item whose text has size bytes.
func (l *Lease) Charge(size int) {
	b := l.limiter.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	if l.ended {
		return
	}
	if l.bytes == 0 {
		b.holders = append(b.holders, l)
	}
	l.bytes += int64(size)
	b.held += int64(size)
}

func (b *budget) release(l *Lease) {
	b.mu.Lock()
	defer b.mu.Unlock()
	l.ended = true
	if at := slices.Index(b.holders, l); at >= 0 {
		b.holders = slices.Delete(b.holders, at, at+1)
	}
	b.held -= l.bytes
	l.bytes = 0
	if b.changed != nil {
		close(b.changed)
		b.changed = nil
	}
}

// Pause keeps the lease for the next page, or until ctx is done. It returns false if
// there is no budget: then the lease isn't kept.
func (l *Lease) Pause(ctx context.Context) bool {
	if !l.Counts() {
		return false
	}
	l.EndWith(ctx)
	return true
}

// Resume ends a pause. It returns false if the lease has ended.
func (l *Lease) Resume() bool {
	if l == nil {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.stay()
}

// EndWith ends the lease when ctx is done.
func (l *Lease) EndWith(ctx context.Context) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stay = context.AfterFunc(ctx, l.End)
}

// End returns everything to the limiter. Only the first call has an effect.
func (l *Lease) End() {
	if l == nil {
		return
	}
	l.once.Do(func() {
		l.mu.Lock()
		stay := l.stay
		l.mu.Unlock()
		if stay != nil {
			stay()
		}
		if l.limiter.budget != nil {
			l.limiter.budget.release(l)
		}
		<-l.limiter.places
	})
}
