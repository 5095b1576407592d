package cache

import (
	"time"

	"k8s.io/utils/clock"

	"github.com/kubewright/kubewright/runtime/informer"
	"github.com/kubewright/kubewright/runtime/internal/reflector"
)

// NewCacheMutationDetector returns what finds out, by copies, that somebody
// changed an object that was added to it, and then panics. It does nothing unless
// KUBE_CACHE_MUTATION_DETECTOR is true.
func NewCacheMutationDetector(name string) MutationDetector {
	return informer.NewMutationDetector(name)
}

// NewRetryWithDeadline returns what allows errors to be retried for a while, see
// [reflector.NewRetryWithDeadline].
func NewRetryWithDeadline(maxRetryDuration, minResetPeriod time.Duration, isRetryable func(error) bool, clock clock.Clock) RetryWithDeadline {
	return reflector.NewRetryWithDeadline(maxRetryDuration, minResetPeriod, isRetryable, clock)
}
