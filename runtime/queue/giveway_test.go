package queue

import (
	"runtime"
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"
)

// TestADeliveryGivesWay delivers many items while a caller waits to add one: it doesn't wait for a burst.
// Go's scheduler decides which goroutine comes first, so one try isn't enough.
func TestADeliveryGivesWay(t *testing.T) {
	for range 1000 {
		if before := deliveredBefore(t); before%deliveryBurst != 0 {
			return
		}
	}
	t.Errorf("in 1,000 tries it always waited for 0 or more bursts of %d items", deliveryBurst)
}

// deliveredBefore returns how many of several bursts are delivered before an item is added whose caller waits
// when the delivery begins.
func deliveredBefore(t *testing.T) int {
	t.Helper()
	const delayed = 4 * deliveryBurst
	clock := clocktesting.NewFakeClock(time.Now())
	q := New(Config[int]{Clock: clock})
	defer q.ShutDown()
	for item := range delayed {
		q.AddAfter(item, time.Hour)
	}
	q.mu.Lock()
	added := make(chan struct{})
	go func() {
		defer close(added)
		q.Add(delayed)
	}()
	for q.mu.adders.Load() == 0 {
		runtime.Gosched()
	}
	clock.Step(time.Hour)
	q.mu.Unlock()
	q.deliver()
	<-added
	for before := 0; ; before++ {
		if item, _ := q.Get(); item == delayed {
			return before
		}
	}
}
