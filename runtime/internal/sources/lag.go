package sources

import (
	"slices"
	"sync/atomic"
	"time"
)

// lagBounds are the greatest ages of objects in the buckets of a [Lag], in milliseconds. A last bucket has
// the objects that are older.
var lagBounds = [...]int64{500, 1000, 2500, 5000, 10_000, 30_000, 60_000, 120_000, 300_000}

// Lag counts how old objects are when changes of them arrive on watches. The zero value is ready to use, and
// counts nothing before Start. It is safe for concurrent use.
type Lag struct {
	// since is when counting began, in milliseconds since 1970, 0 for not yet.
	since   atomic.Int64
	buckets [len(lagBounds) + 1]atomic.Uint64
	// sum is in milliseconds: objects may be years old.
	sum atomic.Int64
	// untimed counts the objects without times.
	untimed atomic.Uint64
}

// Start makes it count, from the first call on.
func (l *Lag) Start() { l.since.CompareAndSwap(0, time.Now().UnixMilli()) }

// Started reports whether objects are to be counted.
func (l *Lag) Started() bool { return l.since.Load() != 0 }

// Add counts an object that arrives now, in milliseconds since 1970, and was written then, in seconds.
func (l *Lag) Add(now, written int64) {
	age := max(0, now-1000*written) // The server's clock may be ahead of ours.
	n, _ := slices.BinarySearch(lagBounds[:], age)
	l.buckets[n].Add(1)
	l.sum.Add(age)
}

// AddUntimed counts an object of which nobody knows when it was written.
func (l *Lag) AddUntimed() { l.untimed.Add(1) }

// Untimed returns how many objects have no times.
func (l *Lag) Untimed() uint64 { return l.untimed.Load() }

// Since returns when counting began, zero if it hasn't.
func (l *Lag) Since() time.Time {
	if since := l.since.Load(); since != 0 {
		return time.UnixMilli(since)
	}
	return time.Time{}
}

// Seconds returns the sum of the ages.
func (l *Lag) Seconds() float64 { return float64(l.sum.Load()) / 1000 }

// Each calls f with the greatest age of each bucket, in seconds, 0 for the last one, and how many objects it
// has. It returns how many all have.
func (l *Lag) Each(f func(upTo float64, objects uint64)) (all uint64) {
	for n := range l.buckets {
		upTo := 0.0
		if n < len(lagBounds) {
			upTo = float64(lagBounds[n]) / 1000
		}
		objects := l.buckets[n].Load()
		all += objects
		f(upTo, objects)
	}
	return all
}
