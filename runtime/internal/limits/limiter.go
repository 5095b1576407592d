// Package limits is the inside of a listwatch.Limiter: the places and the bytes that the lists of several
// sources share.
package limits

import (
	"context"

	"github.com/kubewright/kubewright/runtime/internal/sources"
)

// Limiter has places for lists, and may have a budget.
type Limiter struct {
	places chan struct{}
	budget *budget
}

// New returns a limiter with n places.
func New(n int) Limiter { return Limiter{places: make(chan struct{}, n)} }

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

// Enter waits for a place.
func (l *Limiter) Enter(ctx context.Context) (*Lease, error) {
	select {
	case l.places <- struct{}{}:
		return &Lease{limiter: l}, nil
	default:
	}
	defer sources.Waits(ctx)()
	select {
	case l.places <- struct{}{}:
		return &Lease{limiter: l}, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
