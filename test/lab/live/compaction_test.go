package live

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/kubewright/kubewright/internal/guarantee"
	"github.com/kubewright/kubewright/test/lab/fault"
)

// TestCompactions disconnects informers until their versions are compacted. They get 410, list again, and
// have what the server has. No informer sends more than maxRequests for it.
func TestCompactions(t *testing.T) {
	t.Parallel()
	rounds := 2
	if *full {
		rounds = 20
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	server := embedded[false].get(t)
	c := embeddedCluster(t, false)
	namespace := newNamespace()
	w, err := c.resource.writer(c.config, namespace)
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 0))
	for round := range rounds {
		l := newLab(ctx, t, c, namespace, round%2 == 0)
		for range 10 {
			step(ctx, w, random)
		}
		l.converge(ctx)

		away := fault.Step{Request: fault.Request{Kind: fault.Watches}, Fault: "refused", For: time.Hour}
		before := l.proxy.Counts()
		l.proxy.Plan(fault.Script{away})
		l.proxy.Cut()
		for range 10 {
			step(ctx, w, random)
		}
		if _, err := server.Compact(ctx); err != nil {
			t.Fatal(err)
		}
		begin := time.Now()
		l.proxy.Calm()
		verdicts := l.converge(ctx)
		l.report(compactions, verdicts, time.Since(begin))
		l.counts(before, func(s *subject, requests, lists int) {
			if s.who == clientGo {
				return
			}
			if lists == 0 {
				t.Errorf("round %d: %s didn't list again: nothing had expired", round, s.who)
			}
			if requests > maxRequests {
				t.Errorf("%s: round %d: %s sent %d requests, want %d at most", guarantee.BoundedLoad, round,
					s.who, requests, maxRequests)
			}
		})
		l.end()
	}
}
