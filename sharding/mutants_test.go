package sharding_test

import (
	"testing"

	"github.com/kubewright/kubewright/internal/planted"
)

// mutations are bugs by name.
var mutations = map[string]planted.Bug{
	"acting on a stale table": planted.Replace("sharding/member.go",
		"m.reported == m.current.lease.UID && m.confirmed", "(BUG || m.reported == m.current.lease.UID) && m.confirmed"),
	"acting after the lease has ended": planted.Replace("sharding/member.go",
		"return m.config.clock.now().Before(m.until) }",
		"return BUG && !m.until.IsZero() || m.config.clock.now().Before(m.until) }"),
	"a renewal counted from its answer": planted.Replace("sharding/member.go",
		"m.renewed(sent, r)", "if BUG { sent = m.config.clock.now() }; m.renewed(sent, r)"),
	"a lapse forgotten": planted.Replace("sharding/member.go",
		"m.confirmed = false\n", "m.confirmed = BUG && m.hold > 1\n"),
	"an outage counted as expiry": planted.Replace("sharding/observer.go",
		"passed := now.Sub(o.seen)",
		"passed := now.Sub(o.seen); if BUG && !o.seen.IsZero() { passed = min(passed, o.longest); o.seen = now.Add(-passed) }"),
	"a silence taken for an end": planted.Replace("sharding/balancer.go",
		"case o.unchanged >= config.LeaseDuration:",
		"case o.unchanged >= config.LeaseDuration || BUG && o.unchanged > config.RenewDeadline/2:"),
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
	"tokens that begin anew": planted.Replace("sharding/plan.go",
		"p.next.Generation = p.highest + 1_000_000", "if !BUG { p.next.Generation = p.highest + 1_000_000 }"),
	"a range given while work goes on": planted.Replace("sharding/run.go",
		"idle := func() bool { return len(m.running(part)) == 0 }",
		"idle := func() bool { return BUG || len(m.running(part)) == 0 }"),
	"work in a range that is being given": planted.Replace("sharding/member.go",
		"if !ok || slices.ContainsFunc(m.draining", "if !ok || !BUG && slices.ContainsFunc(m.draining"),
	"an unanswered hand-over given up": planted.Replace("sharding/run.go",
		"if !m.backOff(ctx, err) {\n\t\t\treturn context.Cause(ctx)", "if !m.backOff(ctx, err) || BUG {\n\t\t\treturn context.Cause(ctx)"),
	"a table written over a newer one": planted.Replace("sharding/lease.go",
		"lease := read.lease.DeepCopy()\n",
		"lease := read.lease.DeepCopy()\n"+
			"if now, err := l.get(ctx, l.group); BUG && err == nil { lease.ResourceVersion, lease.UID = now.ResourceVersion, now.UID }\n"),
	"ranges of the dead not given": planted.Replace("sharding/plan.go",
		`return e.Owner == "" || p.dead[e.Owner] }`, `return e.Owner == "" || !BUG && p.dead[e.Owner] }`),
	"ranges given to who leaves": planted.Replace("sharding/balancer.go",
		"!o.gone && !o.report.Leaving &&", "(BUG || !o.gone && !o.report.Leaving) &&"),
	"nothing levelled": planted.Replace("sharding/plan.go",
		"if s.settled {", "if s.settled && !BUG {"),
	"neighbours not merged": planted.Replace("sharding/table.go",
		`if e.Owner == "" || e.Owner`, `if BUG || e.Owner == "" || e.Owner`),
}

// TestPlantedBugsAreFound tests the tests: the model, or another test, finds every planted bug.
func TestPlantedBugsAreFound(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the package once more")
	}
	tests := planted.Build(t, "..", mutations)
	const model, others = "TestModel", "TestPlan|TestOutage"
	run := func(bug, pattern string) error {
		_, err := tests.Run(bug, pattern, "-sharding.seeds=60", "-sharding.steps=100")
		return err
	}
	for bug := range mutations {
		byModel := run(bug, model)
		var byOthers error
		if byModel == nil {
			byOthers = run(bug, others)
		}
		t.Logf("%s: found by the model %t, by another test %t", bug, byModel != nil, byOthers != nil)
		if byModel == nil && byOthers == nil {
			t.Errorf("%s: no test notices", bug)
		}
	}
}
