//go:build linux

package sharded

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/kubewright/kubewright/internal/guarantee"
	"github.com/kubewright/kubewright/test/e2e/sharded/internal/judge"
	"github.com/kubewright/kubewright/test/e2e/sharded/internal/wire"
)

// fault is something that happens in a round. make returns when the running replicas own all ranges.
type fault struct {
	kind string
	make func(*rig, context.Context, *judge.Round) error
}

// faults lists all faults, in the order of the rounds.
var faults = []fault{
	{"kill -9", func(r *rig, ctx context.Context, round *judge.Round) error {
		return r.crash(ctx, round, r.pick(1, false))
	}},
	{"frozen for longer than a lease", func(r *rig, ctx context.Context, round *judge.Round) error {
		return r.frozen(ctx, round, r.pick(1, r.random.IntN(2) == 0)[0])
	}},
	{"frozen, with a write on its way", (*rig).late},
	{"restart of the server", (*rig).restart},
	{"kill -9 of the balancer and another", func(r *rig, ctx context.Context, round *judge.Round) error {
		return r.crash(ctx, round, r.pick(2, true))
	}},
	{"watches aren't filtered, kill -9", func(r *rig, ctx context.Context, round *judge.Round) error {
		round.Filters = false
		if err := r.setWhole(ctx, true); err != nil {
			return err
		}
		return errors.Join(r.crash(ctx, round, r.pick(1, false)), r.setWhole(ctx, false))
	}},
	{"frozen for less than a lease", (*rig).doze},
	{"scale to 1 and back", (*rig).scale},
}

// bound returns how long a range may have no owner when the given replicas are dead.
func (r *rig) bound(ctx context.Context, dead ...*replica) time.Duration {
	once := r.times.LeaseDuration + 2*r.times.RetryPeriod
	leads := r.balancer(ctx)
	if slices.ContainsFunc(dead, func(d *replica) bool { return d.Member == leads }) {
		return 2 * once
	}
	return once
}

// crash kills replicas.
func (r *rig) crash(ctx context.Context, round *judge.Round, dead []*replica) error {
	round.Bound, round.Fault = r.bound(ctx, dead...), wire.Now()
	for _, d := range dead {
		r.group.kill(d)
	}
	return r.settled(ctx, 1)
}

// frozen stops a replica until others own its ranges.
func (r *rig) frozen(ctx context.Context, round *judge.Round, victim *replica) error {
	round.Bound, round.Fault = r.bound(ctx, victim), wire.Now()
	round.Frozen = victim.Member
	if err := r.group.freeze(victim); err != nil {
		return err
	}
	return errors.Join(r.settled(ctx, 1), r.group.thaw(victim))
}

// setWhole switches the server's filtering of watches off or on, and waits until all replicas watch again:
// their informers pause when a watch has ended.
func (r *rig) setWhole(ctx context.Context, whole bool) error {
	r.proxy.setWhole(whole)
	return until(ctx, func() error {
		reading := r.proxy.reading()
		for member := range r.group.running() {
			if !reading[member] {
				return fmt.Errorf("%s watches nothing", member)
			}
		}
		return nil
	})
}

// late stops a replica while a write of it is in flight. The write arrives when others own its ranges.
func (r *rig) late(ctx context.Context, round *judge.Round) error {
	victim, before := r.pick(1, false)[0], r.judge().Late
	h := r.proxy.hold(victim.Member)
	select {
	case <-h.held:
	case <-ctx.Done():
		return fmt.Errorf("%s writes nothing: %w", victim.name, context.Cause(ctx))
	}
	round.Bound, round.Fault = r.bound(ctx, victim), wire.Now()
	round.Frozen = victim.Member
	if err := r.group.freeze(victim); err != nil {
		return err
	}
	err := r.settled(ctx, 1)
	close(h.free)
	if err == nil {
		err = until(ctx, func() error {
			if late := r.judge().Late; late <= before {
				return errors.New("the write that was held back isn't late")
			}
			return nil
		})
	}
	return errors.Join(err, r.group.thaw(victim))
}

// doze stops a replica for a short time, in which its Lease may not expire.
func (r *rig) doze(ctx context.Context, round *judge.Round) error {
	victim := r.pick(1, r.random.IntN(2) == 0)[0]
	longest := r.times.LeaseDuration - 2*r.times.RetryPeriod
	doze := r.times.RetryPeriod + time.Duration(r.random.Int64N(int64(longest-r.times.RetryPeriod)))
	round.Bound, round.Fault = r.bound(ctx), wire.Now()
	round.Frozen = victim.Member
	if err := r.group.freeze(victim); err != nil {
		return err
	}
	return errors.Join(r.wait(ctx, doze), r.group.thaw(victim), r.settled(ctx, 1))
}

// restart ends the server, and starts it again after a while that may be longer than a Lease. No member may
// lose its ranges by that. Informers whose watches have ended several times within two minutes wait for up to
// a minute before they try again, as client-go's do.
func (r *rig) restart(ctx context.Context, round *judge.Round) error {
	round.Filters, r.restarted = false, true // the new server's watches don't have versions from before
	before, _, err := r.table(ctx)
	if err != nil {
		return err
	}
	down := time.Duration(r.random.Int64N(int64(2 * r.times.LeaseDuration)))
	round.Bound, round.Fault = r.bound(ctx)+time.Minute, wire.Now()
	if err := r.server.restart(ctx, down); err != nil {
		return err
	}
	round.Fault = wire.Now()
	if err := r.wait(ctx, r.times.LeaseDuration+2*r.times.RetryPeriod); err != nil {
		return err
	}
	after, _, err := r.table(ctx)
	if err != nil {
		return err
	}
	for member, replica := range r.group.running() {
		if had, has := before.Of(member), after.Of(member); len(had) > 0 && len(had.And(has)) == 0 {
			return fmt.Errorf("%s had %v before an outage of %v, and has %v after it",
				replica.name, had, down, has)
		}
	}
	return nil
}

// wait lets time pass.
func (r *rig) wait(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// scale removes all replicas but one.
func (r *rig) scale(ctx context.Context, round *judge.Round) error {
	round.Bound, round.Fault = r.bound(ctx), wire.Now()
	return errors.Join(r.group.dismiss(ctx, r.pick(r.replicas-1, r.random.IntN(2) == 0)...), r.settled(ctx, 1))
}

// rounds makes one fault per round, and judges the records after each.
func (r *rig) rounds(n int) {
	r.Helper()
	for i := range n {
		f := faults[(*from+i)%len(faults)]
		begun := time.Now()
		if about, err := r.round(f); err != nil {
			r.Errorf("%s: round %d, %s: %v", about, i, f.kind, err)
		}
		v := r.judge()
		for _, wrong := range v.Wrong[:min(len(v.Wrong), 10)] {
			r.Error(wrong)
		}
		r.Logf("round %d, %s: %.1f s", i, f.kind, time.Since(begun).Seconds())
		all := r.records.copy()
		if slow, ok := v.Slow[all.Rounds[i].Began]; ok {
			r.Log("something took longer than the bound:\n" + judge.History(all, i, slow))
		}
		if r.Failed() {
			break
		}
	}
	r.Log("\n" + report(r.judge()))
}

func (r *rig) judge() judge.Verdict {
	return judge.Judge(r.records.copy(), judge.Limits{RenewDeadline: r.times.RenewDeadline, Slack: r.slack})
}

// round makes a fault while bakeries are changed, restores the number of replicas, and waits until everything
// is in order. With an error it returns the guarantee that is broken.
func (r *rig) round(f fault) (about guarantee.Guarantee, err error) {
	ctx, cancel := context.WithTimeoutCause(r.Context(), 2*time.Minute+8*r.times.LeaseDuration,
		errors.New("the group isn't in order again"))
	defer cancel()
	round := judge.Round{Kind: f.kind, Began: wire.Now(), Filters: r.filters && !r.restarted}
	r.restarted = false
	writing, stop := context.WithCancel(ctx)
	written := make(chan struct{})
	go func() {
		defer close(written)
		r.writer.run(writing)
	}()
	// The fault comes while work is going on.
	err = r.wait(ctx, r.times.RetryPeriod/2+time.Duration(r.random.Int64N(int64(r.times.RetryPeriod))))
	if err == nil {
		err = f.make(r, ctx, &round)
	}
	if err == nil {
		about = guarantee.NoneUnowned
		err = r.group.launch(r.replicas - len(r.group.replicas))
	}
	if err == nil {
		err = r.settled(ctx, r.replicas)
	}
	if err == nil {
		err = r.wait(ctx, r.times.RetryPeriod)
	}
	stop()
	<-written
	if err == nil {
		err = r.reconciled(ctx)
	}
	if err == nil {
		about = guarantee.Converging
		err = r.storesEqual(ctx)
	}
	round.Ended = wire.Now()
	r.records.add(func(all *judge.Records) { all.Rounds = append(all.Rounds, round) })
	return about, err
}

// report returns the verdict as a table.
func report(v judge.Verdict) string {
	var text strings.Builder
	table := tabwriter.NewWriter(&text, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "fault\trounds\tchanges\tlongest gap\tbound\tlongest list\tlists\tof these again\t")
	for _, name := range slices.Sorted(maps.Keys(v.Kinds)) {
		k := v.Kinds[name]
		fmt.Fprintf(table, "%s\t%d\t%d\t%.1f s\t%v + list\t%.1f s\t%d\t%d\t\n", name, k.Rounds, k.Changes,
			k.Gap.Seconds(), k.Bound.Round(100*time.Millisecond), k.List.Seconds(), k.Lists, k.Again)
	}
	table.Flush()
	fmt.Fprintf(&text, "%d writes of replicas, %d of them arrived late, %d things were wrong\n",
		v.Writes, v.Late, len(v.Wrong))
	return text.String()
}
