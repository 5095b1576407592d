package queue

import (
	"math"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// Limiter decides how long an item waits before it is tried again. It is
// safe for concurrent use.
type Limiter[T comparable] interface {
	// When counts a failure of item and returns the delay.
	When(item T) time.Duration
	// Forget forgets item's failures.
	Forget(item T)
	// NumRequeues returns the number of item's failures.
	NumRequeues(item T) int
}

// DefaultLimiter returns what controllers use: a delay of 5 ms that doubles
// with each failure of the item, up to 1000 s, and all items together 10
// times a second with a burst of 100. The numbers are client-go's.
func DefaultLimiter[T comparable]() Limiter[T] {
	return NewMaxLimiter[T](
		NewExponentialLimiter[T](5*time.Millisecond, 1000*time.Second),
		&BucketLimiter[T]{rate.NewLimiter(10, 100)},
	)
}

// failures counts per item.
type failures[T comparable] struct {
	mu    sync.Mutex
	table table[T, uint32]
}

func newFailures[T comparable]() failures[T] {
	return failures[T]{table: newTable[T, uint32]()}
}

// count counts one more, and returns how many there were before.
func (f *failures[T]) count(item T) int {
	hash := f.table.hash(item)
	f.mu.Lock()
	defer f.mu.Unlock()
	s := f.table.at(f.table.slotOf(hash, item))
	s.value++
	return int(s.value - 1)
}

// Forget forgets item's failures.
func (f *failures[T]) Forget(item T) {
	hash := f.table.hash(item)
	f.mu.Lock()
	defer f.mu.Unlock()
	if id := f.table.find(hash, item); id != 0 {
		f.table.remove(id)
	}
}

// NumRequeues returns the number of item's failures.
func (f *failures[T]) NumRequeues(item T) int {
	hash := f.table.hash(item)
	f.mu.Lock()
	defer f.mu.Unlock()
	if id := f.table.find(hash, item); id != 0 {
		return int(f.table.at(id).value)
	}
	return 0
}

// ExponentialLimiter doubles the delay of an item with each of its failures.
type ExponentialLimiter[T comparable] struct {
	failures[T]
	base, most time.Duration
}

// NewExponentialLimiter returns a limiter whose first delay is base, and whose
// longest is most.
func NewExponentialLimiter[T comparable](base, most time.Duration) *ExponentialLimiter[T] {
	return &ExponentialLimiter[T]{failures: newFailures[T](), base: base, most: most}
}

// When returns base*2^n after n failures, the longest delay at most.
func (l *ExponentialLimiter[T]) When(item T) time.Duration {
	delay := math.Ldexp(float64(l.base), l.count(item))
	// MaxInt64 is no float: the next one, which isn't a Duration, is meant.
	if delay >= math.MaxInt64 {
		return l.most
	}
	return min(time.Duration(delay), l.most)
}

// FastSlowLimiter has a short delay for the first failures of an item, and a
// long one for all further ones.
type FastSlowLimiter[T comparable] struct {
	failures[T]
	fast, slow time.Duration
	attempts   int
}

// NewFastSlowLimiter returns a limiter that is fast for so many attempts.
func NewFastSlowLimiter[T comparable](fast, slow time.Duration, attempts int) *FastSlowLimiter[T] {
	return &FastSlowLimiter[T]{failures: newFailures[T](), fast: fast, slow: slow, attempts: attempts}
}

// When returns the short delay or the long one.
func (l *FastSlowLimiter[T]) When(item T) time.Duration {
	if l.count(item) < l.attempts {
		return l.fast
	}
	return l.slow
}

// BucketLimiter is a token bucket for all items together. It measures with
// the real clock, and each When takes a token, also when the item is delayed
// already and nothing comes of it.
type BucketLimiter[T comparable] struct {
	*rate.Limiter
}

// When takes a token and returns the time until it is there.
func (l *BucketLimiter[T]) When(T) time.Duration { return l.Reserve().Delay() }

// NumRequeues returns 0: the bucket doesn't know items.
func (l *BucketLimiter[T]) NumRequeues(T) int { return 0 }

// Forget does nothing.
func (l *BucketLimiter[T]) Forget(T) {}

// TurnLimiter is a token bucket for all items together in which an item takes
// one token at a time. With a BucketLimiter, an item that is added more often
// than the rate allows takes a token with each When, though the queue keeps
// only the earliest delay; the tokens taken in vain make it, and all others,
// wait longer and longer. Here it gets the rest of its wait and no new token
// until its turn has come. It measures with the real clock.
type TurnLimiter[T comparable] struct {
	bucket *rate.Limiter
	start  time.Time
	mu     sync.Mutex
	turns  table[T, int64]
}

// NewTurnLimiter returns a limiter of so many turns a second, and a burst of
// so many at once.
func NewTurnLimiter[T comparable](limit rate.Limit, burst int) *TurnLimiter[T] {
	return &TurnLimiter[T]{bucket: rate.NewLimiter(limit, burst), start: time.Now(), turns: newTable[T, int64]()}
}

// When returns the time until item's turn.
func (l *TurnLimiter[T]) When(item T) time.Duration {
	hash := l.turns.hash(item)
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	since := int64(now.Sub(l.start))
	s := l.turns.at(l.turns.slotOf(hash, item))
	if s.value > since {
		return time.Duration(s.value - since)
	}
	delay := l.bucket.ReserveN(now, 1).DelayFrom(now)
	s.value = after(since, delay)
	return delay
}

// NumRequeues returns 0: turns are no failures.
func (l *TurnLimiter[T]) NumRequeues(T) int { return 0 }

// Forget forgets item's turn. Its next When takes a token.
func (l *TurnLimiter[T]) Forget(item T) {
	hash := l.turns.hash(item)
	l.mu.Lock()
	defer l.mu.Unlock()
	if id := l.turns.find(hash, item); id != 0 {
		l.turns.remove(id)
	}
}

// MaxLimiter asks several limiters; the longest delay and the highest number
// of failures count.
type MaxLimiter[T comparable] struct {
	limiters []Limiter[T]
}

// NewMaxLimiter returns the worst case of limiters.
func NewMaxLimiter[T comparable](limiters ...Limiter[T]) *MaxLimiter[T] {
	return &MaxLimiter[T]{limiters}
}

// When asks each limiter, and returns the longest delay.
func (l *MaxLimiter[T]) When(item T) time.Duration {
	var longest time.Duration
	for _, limiter := range l.limiters {
		longest = max(longest, limiter.When(item))
	}
	return longest
}

// NumRequeues returns the highest number of failures.
func (l *MaxLimiter[T]) NumRequeues(item T) int {
	most := 0
	for _, limiter := range l.limiters {
		most = max(most, limiter.NumRequeues(item))
	}
	return most
}

// Forget makes each limiter forget item.
func (l *MaxLimiter[T]) Forget(item T) {
	for _, limiter := range l.limiters {
		limiter.Forget(item)
	}
}

// MaxWaitLimiter cuts the delays of another limiter.
type MaxWaitLimiter[T comparable] struct {
	limiter Limiter[T]
	most    time.Duration
}

// NewMaxWaitLimiter returns limiter with no delay longer than most.
func NewMaxWaitLimiter[T comparable](limiter Limiter[T], most time.Duration) *MaxWaitLimiter[T] {
	return &MaxWaitLimiter[T]{limiter, most}
}

// When returns the limiter's delay, or the longest if that is shorter.
func (l MaxWaitLimiter[T]) When(item T) time.Duration { return min(l.limiter.When(item), l.most) }

// Forget makes the limiter forget item.
func (l MaxWaitLimiter[T]) Forget(item T) { l.limiter.Forget(item) }

// NumRequeues returns the limiter's number of failures.
func (l MaxWaitLimiter[T]) NumRequeues(item T) int { return l.limiter.NumRequeues(item) }
