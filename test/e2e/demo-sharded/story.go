package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"syscall"
	"time"
)

// step is something that happens to replicas, and who must bake afterwards.
type step struct {
	title string
	do    func(context.Context, *demo) error
	// bakers are the replicas that own the namespaces in the end. Each owns some.
	bakers string
	// lost is a replica that stops renewing its Lease, so that the Lease has to expire.
	lost string
}

var story = []step{
	{title: "a starts", do: start("a"), bakers: "a"},
	{title: "b and c start", do: start("b", "c"), bakers: "abc"},
	{
		title:  "b is frozen for 4.5 s, for less than its Lease lasts: SIGSTOP, SIGCONT",
		do:     func(ctx context.Context, d *demo) error { return d.replicas["b"].freezeFor(ctx, nap) },
		bakers: "abc",
	},
	{title: "a is killed: kill -9", do: send("a", syscall.SIGKILL, killed), bakers: "bc", lost: "a"},
	{
		title: "b is frozen while it bakes, for longer than its Lease lasts: SIGSTOP",
		do:    send("b", freeze, frozen), bakers: "c", lost: "b",
	},
	{
		title: "b goes on where it was, as if no time had passed: SIGCONT",
		do:    send("b", thaw, ""), bakers: "bc",
	},
	{
		title: "c is asked to end, and gives its namespaces away first: SIGTERM",
		do:    send("c", syscall.SIGTERM, stopped), bakers: "b",
	},
}

func start(names ...string) func(context.Context, *demo) error {
	return func(_ context.Context, d *demo) (err error) {
		for _, name := range names {
			err = errors.Join(err, d.start(name))
		}
		return err
	}
}

func send(name string, s syscall.Signal, state string) func(context.Context, *demo) error {
	return func(_ context.Context, d *demo) error { return d.replicas[name].signal(s, state) }
}

// nap is long enough for a replica to stop working, because it didn't renew its Lease in time, and too short
// for others to take over.
const nap = renewDeadline + 500*time.Millisecond

// stepTime is far longer than a step takes.
const stepTime = 2 * time.Minute

// tell runs the story. It stops at the first step that doesn't go as planned, and prints the verdict.
func tell(ctx context.Context, d *demo) error {
	begin := time.Now()
	introduce()
	longest := wait{}
	for i, s := range story {
		fmt.Printf("\n%d. %s\n\n", i+1, s.title)
		w, err := d.play(ctx, s)
		if err != nil {
			return fmt.Errorf("step %d: %w", i+1, err)
		}
		if w.took > longest.took {
			longest = w
		}
	}
	orders, err := d.customers.finish()
	if err != nil {
		return err
	}
	if err := d.check(ctx); err != nil {
		return err
	}
	baked := 0
	for _, n := range d.witness.baked() {
		baked += n
	}
	if baked != orders {
		return fmt.Errorf("%d orders, but %d were baked", orders, baked)
	}
	fmt.Printf("\nNothing was baked twice: %d orders were baked once each, by the owner of the namespace. "+
		"The longest wait was %.1f s, all took %.0f s.\n",
		orders, longest.took.Seconds(), time.Since(begin).Seconds())
	return nil
}

// play does a step, waits until the namespaces belong to the step's bakers, and prints the result. It returns
// the longest wait.
func (d *demo) play(ctx context.Context, s step) (wait, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, stepTime,
		fmt.Errorf("after %s the namespaces aren't all with %q", stepTime, s.bakers))
	defer cancel()
	balancer, err := d.tables.balancer(ctx)
	if err != nil {
		return wait{}, err
	}
	begin, before, brokenOff := time.Now(), d.witness.baked(), d.brokenOff()
	d.customers.longestWait()
	if err := s.do(ctx, d); err != nil {
		return wait{}, err
	}
	if err := d.watch(ctx, s.bakers); err != nil {
		return wait{}, err
	}
	if err := d.check(ctx); err != nil {
		return wait{}, err
	}
	longest := d.customers.longestWait()
	d.showReplicas(before)
	fmt.Printf("\n   nothing was baked twice; the longest wait was %.1f s, in %s\n", longest.took.Seconds(),
		longest.namespace)
	if s.lost != "" {
		showLoss(s.lost, d.tables.without(s.lost, begin).Sub(begin), s.lost == balancer)
	}
	showBrokenOff(brokenOff, d.brokenOff())
	return longest, nil
}

// watch prints who bakes where, at most once a second and only after changes, until everything belongs to the
// bakers.
func (d *demo) watch(ctx context.Context, bakers string) error {
	begin, shown := time.Now(), ""
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		if now := d.picture(); now != shown {
			fmt.Printf("   %4.0f s  %s\n", time.Since(begin).Seconds(), now)
			shown = now
		}
		done, err := d.settled(bakers)
		if done || err != nil {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// settled reports whether the replicas are in the states that they should be in, each namespace belongs to
// one of the bakers, no range is about to change hands, and each owner has baked since.
func (d *demo) settled(bakers string) (bool, error) {
	settled, err := true, d.customers.err()
	for _, r := range d.replicas {
		err = errors.Join(err, r.failed())
		settled = settled && (r.state != stopped || r.ended()) && (r.state != "" || r.ready())
	}
	t, last := d.tables.now(), d.witness.lastBakes()
	owners := map[string]bool{}
	for _, e := range t.ranges {
		owners[e.owner] = true
		settled = settled && !e.asked
	}
	for _, namespace := range namespaces {
		b := last[namespace]
		settled = settled && b.by == t.owner(namespace) && b.version > t.version
	}
	return settled && strings.Join(slices.Sorted(maps.Keys(owners)), "") == bakers, err
}

// check returns an error if an order was baked twice, or by a replica other than the owner.
func (d *demo) check(ctx context.Context) error {
	if err := d.tables.catchUp(ctx); err != nil {
		return err
	}
	if wrong := d.witness.wrong(d.tables.ownerAt); len(wrong) > 0 {
		return fmt.Errorf("%d bakes are wrong, among them: %s", len(wrong), wrong[0])
	}
	return nil
}

// brokenOff returns how often each replica has broken off work, or not begun it, so far.
func (d *demo) brokenOff() map[string]int {
	all := map[string]int{}
	for name, r := range d.replicas {
		all[name] = r.brokenOff()
	}
	return all
}
