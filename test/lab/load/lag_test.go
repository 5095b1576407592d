package load

import (
	"math/bits"
	"sync/atomic"
	"testing"
	"time"
)

// lags counts lags in buckets, each an eighth wider than its lower end. It is safe for concurrent use.
type lags struct{ buckets [64 * 8]atomic.Int64 }

// add counts one lag.
func (l *lags) add(d time.Duration) { l.buckets[bucketOf(d)].Add(1) }

// read returns the counts.
func (l *lags) read() (c counts) {
	for i := range l.buckets {
		c[i] = l.buckets[i].Load()
	}
	return c
}

func bucketOf(d time.Duration) int {
	n := uint64(max(d, 8))
	exponent := bits.Len64(n) - 1
	return exponent*8 + int(n>>(exponent-3)&7)
}

// counts has the count of each bucket.
type counts [64 * 8]int64

// plus and minus return the sum and the difference.
func (c counts) plus(d counts) counts  { return c.with(d, 1) }
func (c counts) minus(d counts) counts { return c.with(d, -1) }

func (c counts) with(d counts, sign int64) counts {
	for i := range c {
		c[i] += sign * d[i]
	}
	return c
}

// percentile returns the upper end of the bucket that holds the percentile, 0 if nothing was counted.
func (c counts) percentile(p float64) time.Duration {
	total := int64(0)
	for _, n := range c {
		total += n
	}
	wanted := int64(p / 100 * float64(total))
	for i, n := range c {
		if wanted -= n; n > 0 && wanted <= 0 {
			return time.Duration(uint64(8+i%8+1) << (i/8 - 3))
		}
	}
	return 0
}

func TestLags(t *testing.T) {
	var l lags
	for i := range 1000 {
		l.add(time.Duration(i+1) * time.Millisecond)
	}
	before := l.read()
	for p, want := range map[float64]time.Duration{
		50: 500 * time.Millisecond, 99: 990 * time.Millisecond, 100: time.Second,
	} {
		if got := before.percentile(p); got < want || got > want+want/8+1 {
			t.Errorf("percentile %v: %v, want %v and an eighth at most", p, got, want)
		}
	}
	l.add(time.Minute)
	l.add(-time.Second) // clocks may be set back
	if got := l.read().minus(before).percentile(100); got < time.Minute || got > 68*time.Second {
		t.Errorf("the only long one: %v", got)
	}
	if got := before.minus(before).percentile(50); got != 0 {
		t.Errorf("of nothing: %v", got)
	}
}
