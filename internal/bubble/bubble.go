// Package bubble moves the clock of tests that run in a bubble of
// [testing/synctest], and refuses to wait on the real one.
package bubble

import (
	"testing/synctest"
	"time"
)

// Advance moves the clock by d and waits until nothing moves any more. It is for
// one goroutine of a bubble, that of the test.
func Advance(d time.Duration) {
	Pass(d)
	synctest.Wait()
}

// Pass lets d pass, as a goroutine does that works for so long. In a bubble that
// takes no time; outside of one it panics. It is safe for concurrent use.
func Pass(d time.Duration) {
	// A bubble's clock begins with the year 2000, see [synctest.Test].
	if time.Now().Year() >= 2020 {
		panic("the clock is the real one: nobody should wait for it")
	}
	time.Sleep(d)
}
