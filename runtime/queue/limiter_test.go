package queue_test

import (
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/util/workqueue"

	"github.com/kubewright/kubewright/runtime/queue"
)

func TestAddWith(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGauges()
		q := queue.New(queue.Config[string]{
			Limiter: workqueue.NewTypedItemFastSlowRateLimiter[string](0, time.Minute, 1),
			Metrics: g.metrics(),
		})
		for _, test := range []struct {
			options queue.AddOptions
			after   time.Duration
			retries float64
		}{
			{queue.AddOptions{}, 0, 0},
			{queue.AddOptions{RateLimited: true}, 0, 1},
			{queue.AddOptions{After: time.Second}, time.Second, 2},
			{queue.AddOptions{RateLimited: true, After: time.Second}, time.Minute, 3},
			{queue.AddOptions{RateLimited: true, After: time.Hour}, time.Hour, 4},
		} {
			start := time.Now()
			q.AddWith("a", test.options)
			item, _ := q.Get()
			q.Done(item)
			if after := time.Since(start); after != test.after || g.retries != test.retries {
				t.Errorf("%+v: after %v, %v retries", test.options, after, g.retries)
			}
		}
	})
}
