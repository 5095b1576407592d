package sharding_test

import (
	"strings"
	"testing"

	"github.com/kubewright/kubewright/internal/guarantee"
	"github.com/kubewright/kubewright/internal/planted"
)

// mutations are bugs by name.
var mutations = map[string]planted.Bug{
	"acting on a stale table": planted.In("(*Member).applyTableLocked",
		"m.current != nil && !v.newer(m.current)", "m.current != nil && !v.newer(m.current) && !BUG").
		Breaks(guarantee.OneOwner),
	"acting after the lease has ended": planted.In("(*Member).holds",
		"return m.config.clock.now().Before(m.until) }",
		"return BUG && !m.until.IsZero() || m.config.clock.now().Before(m.until) }").
		Breaks(guarantee.OneOwner),
	"a renewal counted from its answer": planted.In("(*Member).renew",
		"m.recordRenewal(sent, r)", "if BUG { sent = m.config.clock.now() }; m.recordRenewal(sent, r)").
		Breaks(guarantee.OneOwner),
	"a lapse forgotten": planted.In("(*Member).recordRenewal",
		"m.confirmed = false", "m.confirmed = BUG && m.hold > 1"),
	"an outage counted as expiry": planted.In("(*observer).countTime",
		"passed := now.Sub(o.seen)",
		"passed := now.Sub(o.seen); if BUG && !o.seen.IsZero() { "+
			"passed = min(passed, o.longest); o.seen = now.Add(-passed) }"),
	"a silence taken for an end": planted.In("(*balancer).situation",
		"case o.unchanged >= max(config.LeaseDuration, o.duration()):",
		"case o.unchanged >= max(config.LeaseDuration, o.duration()) || "+
			"BUG && o.unchanged > config.RenewDeadline/2:"),
	"a lease that lasts longer ended early": planted.In("(*observed).duration",
		"if o.lease == nil ||", "if BUG || o.lease == nil ||"),
	"a deleted lease taken for an end": planted.In("(*observer).recordDeletion",
		"m.gone = true", "m.gone = true; if BUG { m.unchanged = time.Hour }"),
	"the leases not read again": planted.In("(*balancer).decide",
		"s.table.untouched() || len(s.lost()) > 0",
		"!BUG && (s.table.untouched() || len(s.lost()) > 0)"),
	"the table read after the leases": planted.In("(*balancer).decide",
		"written, err := b.member.leases.write(ctx, b.current, next)",
		"if v, err := b.member.leases.read(ctx); BUG && err == nil { b.current.lease = v.lease }; "+
			"written, err := b.member.leases.write(ctx, b.current, next)"),
	"a new table given before all have seen it": planted.In("(*balancer).situation",
		"if untouched { return", "if untouched && !BUG { return"),
	"a new table given at once": planted.In("(*balancer).situation",
		"if untouched && b.observer.reading < config.LeaseDuration {",
		"if untouched && b.observer.reading < config.LeaseDuration && !BUG {"),
	"tokens that begin anew": planted.In("versionOf",
		"if t.untouched() {", "if t.untouched() && !BUG {"),
	"a range given while work goes on": planted.In("(*Member).drain",
		"idle := func() bool { return len(m.running(part)) == 0 }",
		"idle := func() bool { return BUG || len(m.running(part)) == 0 }"),
	"work in a range that is being given": planted.In("(*Member).allows",
		"return ok && !drains", "return ok && (BUG || !drains)"),
	"work begins before the objects are there": planted.In("(*Member).beginWork",
		"case errors.Is(err, errChanged):", "case errors.Is(err, errChanged) && !BUG:"),
	"work is refused while the lease doesn't hold": planted.In("(*Member).beginWork",
		"m.waitForChange(ctx)", "if BUG { return Owned{}, ErrNotOwned }; m.waitForChange(ctx)"),
	"a lapse empties the caches": planted.In("(*Member).updateOwned",
		"if m.acts() { owned =",
		"if BUG && !m.acts() { m.caches.setTarget(nil, nil) }; if m.acts() { owned ="),
	"a range given before it was worked on": planted.In("(*Member).awaitWorked",
		"return !requested() ||", "return BUG || !requested() ||"),
	"a range drained that is no longer asked for": planted.In("(*Member).awaitWorked",
		"if !requested() {", "if !BUG && !requested() {"),
	"a range worked on by who has lost it since": planted.In("(*caches).setTarget",
		"a.ranges = a.ranges.And(c.ready)", "if !BUG { a.ranges = a.ranges.And(c.ready) }"),
	"time without a lease counted as work": planted.In("(*Member).actsFor",
		"held := !interrupted()", "held := BUG || !interrupted()"),
	"objects waited for that won't come": planted.In("(*Member).noteWorked",
		"if ctx.Err() != nil || err == nil &&",
		"if BUG && err != nil { return }; if ctx.Err() != nil || err == nil &&"),
	"what others may have owned isn't listed anew": planted.In("(*version).keptBy",
		"if since == nil || since.lease.UID != v.lease.UID {",
		"if since == nil || !BUG && since.lease.UID != v.lease.UID {"),
	"an interruption that wasn't seen is none": planted.In("(*version).keptBy",
		"if v.Generation > since.Generation+1 {", "if !BUG && v.Generation > since.Generation+1 {"),
	"a write after the end of the lease": planted.In("fenced.RoundTrip",
		"!owned {", "!owned && !BUG {"),
	"an unanswered hand-over given up": planted.In("(*Member).rewrite",
		"if !m.backOff(ctx, err) {", "if BUG { return err }; if !m.backOff(ctx, err) {"),
	"a table written over a newer one": planted.In("leases.write",
		"lease := read.lease.DeepCopy()",
		"lease := read.lease.DeepCopy(); "+
			"if now, err := l.get(ctx, l.group); BUG && err == nil { "+
			"lease.ResourceVersion, lease.UID = now.ResourceVersion, now.UID }"),
	"ranges of the dead not given": planted.In("(*plan).isOrphan",
		`return e.Owner == "" || p.dead[e.Owner] }`, `return e.Owner == "" || !BUG && p.dead[e.Owner] }`).
		Breaks(guarantee.NoneUnowned),
	"ranges given to who leaves": planted.In("(*balancer).situation",
		"!o.gone && !o.report.Leaving &&", "(BUG || !o.gone && !o.report.Leaving) &&").
		Breaks(guarantee.NoneUnowned),
	"a stale lease taken for that of a member that lives": planted.In("(*observer).observeLease",
		"m.renews = !isNew ||", "m.renews = BUG || !isNew ||"),
	"nothing levelled": planted.In("situation.planTable",
		"if s.settled {", "if s.settled && !BUG {"),
	"neighbours not merged": planted.In("table.merged",
		`if e.Owner == "" || e.Owner`, `if BUG || e.Owner == "" || e.Owner`),
}

// TestPlantedBugsAreFound tests the tests: the model, or another test, finds every planted bug.
func TestPlantedBugsAreFound(t *testing.T) {
	tests := planted.Build(t, ".", mutations)
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
