package listwatch

import "github.com/kubewright/kubewright/runtime/internal/limits"

// Limiter bounds how many lists are read at a time by the informers that share it. Programs need more memory
// at the start than later because of lists that are decoded and not yet in the cache. A page counts while it
// is read, a watch-list until its end bookmark. A list that has failed doesn't count while its reflector
// backs off.
//
// With [Limiter.WithBudget] it also bounds the bytes that are decoded.
//
// It is safe for concurrent use.
type Limiter struct{ shared }

// shared is embedded under an unexported name, so that informers find its methods and nobody else sees them.
type shared = limits.Limiter

// anyNumber of lists is more than a program has.
const anyNumber = 1 << 16

// NewLimiter returns a limiter for n lists at a time, or for any number if n is zero: use that with
// WithBudget. It panics if n is negative.
func NewLimiter(n int) *Limiter {
	switch {
	case n < 0:
		panic("listwatch: the limit of lists must not be negative")
	case n == 0:
		n = anyNumber
	}
	return &Limiter{limits.New(n)}
}

// WithBudget also limits how many bytes of incomplete lists are decoded at a time, over all informers that
// share l. It returns l, which must not be in use yet. It panics if bytes isn't positive.
//
// An item counts by the size of its text, JSON or protobuf. In memory it takes 1 to 6 times as much. Items
// that are taken from the cache don't count, nor do those of informers that don't stream.
//
// While the budget is exceeded, informers wait before they decode another item. The list that has held bytes
// for the longest never waits, so every list ends, even one that is larger than the budget. The budget can be
// exceeded by that list, and by one item of each other list. A list releases its bytes and its place when it
// ends, fails, panics or is stopped, and when its context is done. Between its pages it keeps both.
//
// An informer that waits reads nothing from its connection. It is in the state informer.Waiting.
// docs/memory.md lists the sizes to expect and the timeouts that matter.
func (l *Limiter) WithBudget(bytes int64) *Limiter {
	if bytes <= 0 {
		panic("listwatch: the budget must be positive")
	}
	l.SetBudget(bytes)
	return l
}

// Held returns how many bytes currently count against the budget, or 0 without a budget.
func (l *Limiter) Held() int64 { return l.shared.Held() }
