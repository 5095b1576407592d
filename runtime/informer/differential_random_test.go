package informer_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kubewright/kubewright/internal/bubble"
	"github.com/kubewright/kubewright/runtime/gen/informer"
)

func TestSameCallsAsClientGoAtRandom(t *testing.T) {
	for seed := range uint64(30) {
		t.Run(fmt.Sprint("seed", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { randomPair(t, rand.New(rand.NewPCG(seed, 1))) })
		})
	}
}

// randomPair performs random steps. Relists and resyncs don't occur in the same walk: after a relist the two
// informers count their periods from different, random times.
func randomPair(t *testing.T, r *rand.Rand) {
	resyncs := r.IntN(2) == 0
	var opts informer.Options
	period := func() time.Duration { return noResync }
	if resyncs {
		opts.ResyncPeriod = time.Duration(r.IntN(4)) * time.Second
		period = func() time.Duration { return time.Duration(r.IntN(6)-1) * time.Second }
	}
	p := newPair(t, opts)
	name := func() string { return "object-"[:1+r.IntN(3)] + fmt.Sprint(r.IntN(8)) }
	change := func() {
		for range 1 + r.IntN(4) {
			if r.IntN(3) == 0 {
				p.server.remove(name())
			} else {
				p.server.put(name())
			}
		}
	}
	for range r.IntN(3) {
		p.handle(period())
	}
	change()
	p.start()
	p.check("the start")
	for range 60 {
		step := ""
		switch n := r.IntN(12); {
		case n < 5:
			step = "changes"
			change()
		case n == 5:
			step = "a registration"
			p.handle(period())
		case n == 6 && len(p.handlers) > 0:
			step = "a removal"
			p.unhandle(p.handlers[r.IntN(len(p.handlers))])
		case n == 7:
			step = "a bookmark"
			p.server.bookmark()
		case n == 8 && !resyncs:
			step = "a cut"
			p.server.cut()
			change()
			p.recover()
		case n == 9 && !resyncs:
			step = "a relist"
			p.server.forget(change)
			p.recover()
		case n == 10 && !resyncs:
			step = "an expiry"
			p.server.expire()
			change()
			p.recover()
		default:
			step = "a second"
			bubble.Pass(time.Second)
		}
		p.check(step)
	}
	if p.calls == 0 {
		t.Error("no handler was called")
	}
	p.stop()
	p.check("the stop")
}
