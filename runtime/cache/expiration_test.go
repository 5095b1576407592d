package cache_test

import (
	"fmt"
	"testing"
	"time"

	clientgo "k8s.io/client-go/tools/cache"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/kubewright/kubewright/runtime/cache"
)

func TestExpirationLikeClientGo(t *testing.T) {
	clock := clocktesting.NewFakeClock(time.Now())
	policy := &clientgo.TTLPolicy{TTL: time.Minute, Clock: clock}
	gone, theirGone := make(chan string, 100), make(chan string, 100)
	ours := cache.NewFakeExpirationStore(keyFunc, gone, policy, clock)
	theirs := clientgo.NewFakeExpirationStore(keyFunc, theirGone, policy, clock)
	eachSeed(t, func(t *testing.T, r *randomPods) {
		r.bad = true
		for range 20 {
			obj, list := r.one(), r.some()
			operation := r.IntN(5)
			var errs [2]error
			for i, s := range []clientgo.Store{ours, theirs} {
				switch operation {
				case 0, 1:
					errs[i] = s.Add(obj)
				case 2:
					errs[i] = s.Delete(obj)
				case 3:
					errs[i] = s.Replace(list, "7")
				}
			}
			if operation == 4 {
				clock.Step(40 * time.Second)
			}
			same(t, "error", kind(errs[0]), kind(errs[1]))
			same(t, "keys", ordered(ours.ListKeys()), ordered(theirs.ListKeys()))
			a, okA, _ := ours.GetByKey("x/a")
			b, okB, _ := theirs.GetByKey("x/a")
			same(t, "GetByKey", fmt.Sprint(text(a), okA), fmt.Sprint(text(b), okB))
			same(t, "List", names(ours.List(), true), names(theirs.List(), true))
			same(t, "keys", ordered(ours.ListKeys()), ordered(theirs.ListKeys()))
			if len(gone) != len(theirGone) {
				t.Errorf("%d expired, theirs %d", len(gone), len(theirGone))
			}
			for len(gone) > 0 {
				<-gone
				<-theirGone
			}
		}
	})
	if s := cache.NewTTLStore(keyFunc, time.Nanosecond); s.Add(pod("x", "a", "1")) != nil || len(s.ListKeys()) != 1 {
		t.Error("a TTL store doesn't store")
	}
}
