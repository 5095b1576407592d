package sharding

import (
	"fmt"
	"testing"
	"time"
)

// TestObserver: a silence counts from when the Lease's last change came in, and only while the observer's own
// renewals come in.
func TestObserver(t *testing.T) {
	start := time.Now()
	o := newObserver("me", 4*time.Second)
	version := 0
	see := func(who string, second float64) {
		version++
		lease := leaseOf(fmt.Sprint(version))
		o.observeLease(who, lease, report{}, start.Add(time.Duration(second*float64(time.Second))))
	}
	silence := func(want float64) {
		t.Helper()
		if got := o.members["other"].unchanged.Seconds(); got != want {
			t.Errorf("silent for %.1f s, want %.1f", got, want)
		}
	}
	see("me", 0)
	see("other", 1)
	silence(0)
	see("me", 2)
	silence(1)
	see("me", 4)
	silence(3)
	o.recordDeletion("other") // a deleted Lease hasn't run out
	see("me", 6)
	silence(5)
	see("me", 10.5) // for longer than 4 s nothing was read
	silence(0)
	see("me", 12)
	silence(1.5)
	see("other", 13)
	silence(0)
	o.recordMissing("third", start.Add(13*time.Second))
	see("me", 14)
	silence(1)
	if got := o.members["third"].unchanged; got != time.Second {
		t.Errorf("the member without a lease is silent for %s", got)
	}
	if o.reading != 3500*time.Millisecond {
		t.Errorf("reading for %s", o.reading)
	}
}
