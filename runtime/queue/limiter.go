package queue

import (
	"sync"
	"time"

	"golang.org/x/time/rate"
	"k8s.io/client-go/util/workqueue"
)

// NewBucketLimiter returns a token bucket for all items together: limit items a second, with bursts of burst.
// An item holds one token at a time: until its turn comes, When returns the rest of its wait and takes no
// other token.
//
// With client-go's TypedBucketRateLimiter each When takes a token, though the queue keeps only the
// earliest delay. An item that is added faster than the bucket fills then delays itself and all
// others ever longer.
//
// It counts no failures: NumRequeues returns 0. Forget makes the next When take a token. The limiter
// is safe for concurrent use and measures with the real clock. For delays that also grow with an item's
// failures, combine it with another limiter through client-go's NewTypedMaxOfRateLimiter.
func NewBucketLimiter[T comparable](limit rate.Limit, burst int) workqueue.TypedRateLimiter[T] {
	return &bucketLimiter[T]{bucket: rate.NewLimiter(limit, burst), turns: map[T]time.Time{}}
}

type bucketLimiter[T comparable] struct {
	bucket *rate.Limiter
	mu     sync.Mutex
	// turns is when the wait of each item ends. It has an entry for an item from its When until its Forget.
	turns map[T]time.Time
}

func (l *bucketLimiter[T]) When(item T) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	if wait := l.turns[item].Sub(now); wait > 0 {
		return wait
	}
	delay := l.bucket.ReserveN(now, 1).DelayFrom(now)
	l.turns[item] = now.Add(delay)
	return delay
}

func (l *bucketLimiter[T]) NumRequeues(T) int { return 0 }

func (l *bucketLimiter[T]) Forget(item T) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.turns, item)
}
