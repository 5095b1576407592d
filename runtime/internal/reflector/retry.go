package reflector

import (
	"time"

	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"
)

// NewRetryWithDeadline returns a helper that allows errors for which isRetryable
// is true to be retried for maxRetryDuration, counted from the first of them. If
// minResetPeriod passes without such an error, the next one counts as the first
// again, and so does the first one after the patience ran out. A maxRetryDuration
// of zero or less allows none. It is for one goroutine.
func NewRetryWithDeadline(maxRetryDuration, minResetPeriod time.Duration, isRetryable func(error) bool, clock clock.Clock) cache.RetryWithDeadline {
	return &retryWithDeadline{patience: maxRetryDuration, quiet: minResetPeriod, isRetryable: isRetryable, clock: clock}
}

type retryWithDeadline struct {
	patience, quiet time.Duration
	isRetryable     func(error) bool
	clock           clock.Clock
	// first and last are zero when no error is being retried.
	first, last time.Time
}

func (r *retryWithDeadline) After(err error) {
	if !r.isRetryable(err) {
		return
	}
	now := r.clock.Now()
	if now.Sub(r.last) >= r.quiet {
		r.first = time.Time{}
	}
	if r.first.IsZero() {
		r.first = now
	}
	r.last = now
}

func (r *retryWithDeadline) ShouldRetry() bool {
	if r.patience <= 0 {
		return false
	}
	if r.clock.Now().Sub(r.first) <= r.patience {
		return true
	}
	r.first, r.last = time.Time{}, time.Time{}
	return false
}
