// Package bubble moves the clock of tests that run in a bubble of [testing/synctest]. It refuses
// to wait on the real clock.
package bubble

import (
	"testing/synctest"
	"time"
)

// Advance moves the clock by d and waits until all other goroutines of the bubble block. Only the goroutine
// of the test may call it.
func Advance(d time.Duration) {
	Pass(d)
	synctest.Wait()
}

// Pass sleeps for d, in place of work that takes that long. In a bubble that takes no real time; outside of
// one Pass panics. It is safe for concurrent use.
func Pass(d time.Duration) {
	// A bubble's clock starts at the year 2000, see [synctest.Test].
	if time.Now().Year() >= 2020 {
		panic("Pass was called outside of a bubble: tests must not wait for the real clock")
	}
	time.Sleep(d)
}
