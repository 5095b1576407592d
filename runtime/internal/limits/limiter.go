// Package limits is the inside of a listwatch.Limiter: the slots and the bytes that the lists of several
// sources share.
package limits

import (
	"context"

	"github.com/kubewright/kubewright/runtime/internal/sources"
)

// Limiter has slots for lists, and may have a budget.
type Limiter struct {
	slots  chan struct{}
	budget *budget
}

// New returns a limiter with n slots.
func New(n int) Limiter { return Limiter{slots: make(chan struct{}, n)} }

// SetBudget sets the number of bytes that the lists share.
func (l *Limiter) SetBudget(bytes int64) { l.budget = &budget{bytes: bytes} }

// Held returns how many bytes currently count against the budget, or 0 without a budget.
func (l *Limiter) Held() int64 {
	if l.budget == nil {
		return 0
	}
	l.budget.mu.Lock()
	defer l.budget.mu.Unlock()
	return l.budget.held
}

// Enter waits for a slot.
func (l *Limiter) Enter(ctx context.Context) (*Slot, error) {
	select {
	case l.slots <- struct{}{}:
		return &Slot{limiter: l}, nil
	default:
	}
	defer sources.Waits(ctx)()
	select {
	case l.slots <- struct{}{}:
		return &Slot{limiter: l}, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
