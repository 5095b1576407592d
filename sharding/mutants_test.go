package sharding_test

import (
	"flag"
	"strings"
	"testing"

	"github.com/kubewright/kubewright/internal/planted"
)

var plant = flag.Bool("sharding.planted", false, "whether TestPlantedBugsAreFound runs")

// mutations are bugs by name.
var mutations = map[string]planted.Bug{
	"acting on a stale table": planted.Replace("sharding/member.go",
		"m.current != nil && !v.newer(m.current)", "m.current != nil && !v.newer(m.current) && !BUG"),
	"acting after the lease has ended": planted.Replace("sharding/member.go",
		"return m.config.clock.now().Before(m.until) }",
		"return BUG && !m.until.IsZero() || m.config.clock.now().Before(m.until) }"),
	"a renewal counted from its answer": planted.Replace("sharding/member.go",
		"m.renewed(sent, r)", "if BUG { sent = m.config.clock.now() }; m.renewed(sent, r)"),
	"a lapse forgotten": planted.Replace("sharding/member.go",
		"m.confirmed = false\n", "m.confirmed = BUG && m.hold > 1\n"),
	"an outage counted as expiry": planted.Replace("sharding/observer.go",
		"passed := now.Sub(o.seen)",
		"passed := now.Sub(o.seen); if BUG && !o.seen.IsZero() { "+
			"passed = min(passed, o.longest); o.seen = now.Add(-passed) }"),
	"a silence taken for an end": planted.Replace("sharding/balancer.go",
		"case o.unchanged >= max(config.LeaseDuration, o.duration()):",
		"case o.unchanged >= max(config.LeaseDuration, o.duration()) || "+
			"BUG && o.unchanged > config.RenewDeadline/2:"),
	"a lease that lasts longer ended early": planted.Replace("sharding/observer.go",
		"if o.lease == nil ||", "if BUG || o.lease == nil ||"),
	"a deleted lease taken for an end": planted.Replace("sharding/observer.go",
		"m.gone = true\n", "m.gone = true; if BUG { m.unchanged = time.Hour }\n"),
	"the leases not read again": planted.Replace("sharding/balancer.go",
		"\tif risky {", "\tif risky && !BUG {"),
	"the table read after the leases": planted.Replace("sharding/balancer.go",
		"written, err := b.member.leases.write(ctx, b.current, next)",
		"if v, err := b.member.leases.read(ctx); BUG && err == nil { b.current.lease = v.lease }; "+
			"written, err := b.member.leases.write(ctx, b.current, next)"),
	"a new table given before all have seen it": planted.Replace("sharding/balancer.go",
		"if untouched {\n", "if untouched && !BUG {\n"),
	"a new table given at once": planted.Replace("sharding/balancer.go",
		"if untouched && b.observer.reading < config.LeaseDuration {",
		"if untouched && b.observer.reading < config.LeaseDuration && !BUG {"),
	"tokens that begin anew": planted.Replace("sharding/lease.go",
		"if t.untouched() {", "if t.untouched() && !BUG {"),
	"a range given while work goes on": planted.Replace("sharding/work.go",
		"idle := func() bool { return len(m.running(part)) == 0 }",
		"idle := func() bool { return BUG || len(m.running(part)) == 0 }"),
	"work in a range that is being given": planted.Replace("sharding/work.go",
		"return ok && !drains", "return ok && (BUG || !drains)"),
	"work begins before the objects are there": planted.Replace("sharding/work.go",
		"case errors.Is(err, errChanged):", "case errors.Is(err, errChanged) && !BUG:"),
	"work is refused while the lease doesn't hold": planted.Replace("sharding/work.go",
		"m.next(ctx)\n", "if BUG { return Owned{}, ErrNotOwned }; m.next(ctx)\n"),
	"a lapse empties the caches": planted.Replace("sharding/member.go",
		"if m.acts() {\n\t\towned =",
		"if BUG && !m.acts() { m.caches.follow(nil, nil) }\n\tif m.acts() {\n\t\towned ="),
	"a range given before it was worked on": planted.Replace("sharding/handover.go",
		"return !asked() ||", "return BUG || !asked() ||"),
	"a range drained that is no longer asked for": planted.Replace("sharding/handover.go",
		"if !asked() {\n", "if !BUG && !asked() {\n"),
	"a range worked on by who has lost it since": planted.Replace("sharding/caches.go",
		"a.ranges = a.ranges.And(c.ready)", "if !BUG { a.ranges = a.ranges.And(c.ready) }"),
	"time without a lease counted as work": planted.Replace("sharding/caches.go",
		"held := !interrupted()", "held := BUG || !interrupted()"),
	"objects waited for that won't come": planted.Replace("sharding/caches.go",
		"if ctx.Err() != nil || err == nil &&",
		"if BUG && err != nil { return }; if ctx.Err() != nil || err == nil &&"),
	"what others may have owned isn't listed anew": planted.Replace("sharding/lease.go",
		"if since == nil || since.lease.UID != v.lease.UID {",
		"if since == nil || !BUG && since.lease.UID != v.lease.UID {"),
	"an interruption that wasn't seen is none": planted.Replace("sharding/lease.go",
		"if v.Generation > since.Generation+1 {", "if !BUG && v.Generation > since.Generation+1 {"),
	"a write after the end of the lease": planted.Replace("sharding/transport.go",
		"!owned {\n", "!owned && !BUG {\n"),
	"an unanswered hand-over given up": planted.Replace("sharding/run.go",
		"if !m.backOff(ctx, err) {\n\t\t\treturn context.Cause(ctx)",
		"if BUG { return err }; if !m.backOff(ctx, err) {\n\t\t\treturn context.Cause(ctx)"),
	"a table written over a newer one": planted.Replace("sharding/lease.go",
		"lease := read.lease.DeepCopy()\n",
		"lease := read.lease.DeepCopy()\n"+
			"if now, err := l.get(ctx, l.group); BUG && err == nil { "+
			"lease.ResourceVersion, lease.UID = now.ResourceVersion, now.UID }\n"),
	"ranges of the dead not given": planted.Replace("sharding/plan.go",
		`return e.Owner == "" || p.dead[e.Owner] }`, `return e.Owner == "" || !BUG && p.dead[e.Owner] }`),
	"ranges given to who leaves": planted.Replace("sharding/balancer.go",
		"!o.gone && !o.report.Leaving &&", "(BUG || !o.gone && !o.report.Leaving) &&"),
	"a stale lease taken for that of a member that lives": planted.Replace("sharding/observer.go",
		"m.renews = !isNew ||", "m.renews = BUG || !isNew ||"),
	"nothing levelled": planted.Replace("sharding/plan.go",
		"if s.settled {", "if s.settled && !BUG {"),
	"neighbours not merged": planted.Replace("sharding/table.go",
		`if e.Owner == "" || e.Owner`, `if BUG || e.Owner == "" || e.Owner`),
}

// TestPlantedBugsAreFound tests the tests: the model, or another test, finds every planted bug.
func TestPlantedBugsAreFound(t *testing.T) {
	if !*plant {
		t.Skip("takes some minutes; -sharding.planted runs it")
	}
	tests := planted.Build(t, "..", mutations)
	const model, others = "TestModel", "Test[^P].*"
	run := func(bug, pattern string) (finding string) {
		out, err := tests.Run(bug, pattern, "-sharding.seeds=30", "-sharding.steps=60", "-sharding.plans=3")
		if err == nil {
			return ""
		}
		for line := range strings.Lines(out) {
			if strings.Contains(line, "_test.go:") {
				return strings.TrimSpace(line)
			}
		}
		return err.Error() + out
	}
	if found := run("", model); found != "" {
		t.Fatalf("a test fails without a bug: %s", found)
	}
	for bug := range mutations {
		found := run(bug, model)
		if found == "" {
			found = run(bug, others)
		}
		if found == "" {
			t.Errorf("%s: no test finds it", bug)
		}
		t.Logf("%s: %s", bug, found)
	}
}
