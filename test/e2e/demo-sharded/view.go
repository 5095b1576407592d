package main

import (
	"fmt"
	"maps"
	"slices"
	"time"
)

// patience is how long an order waits before it is shown as waiting.
const patience = 2 * time.Second

func introduce() {
	fmt.Printf(`
Each of %d namespaces has a bakery, and a customer who orders, waits for the bread, and orders again.
Replicas of the bakery controller, a, b and c, share the namespaces. A line of letters shows who baked
last in each of them, in the order of their hashes; a point is an order that waits for more than %.0f s.
`, len(namespaces), patience.Seconds())
}

// picture shows who baked last in each namespace, as a letter for each.
func (d *demo) picture() string {
	last, waits := d.witness.lastBakes(), d.customers.waits()
	picture := make([]byte, len(namespaces))
	for i, namespace := range namespaces {
		picture[i] = '.'
		if b, ok := last[namespace]; ok && waits[namespace] <= patience {
			picture[i] = b.by[0]
		}
	}
	return string(picture)
}

// showReplicas prints what each replica owns, and what it has baked since the counts of before.
func (d *demo) showReplicas(before map[string]int) {
	t, baked := d.tables.now(), d.witness.baked()
	has, ranges := map[string]int{}, map[string]int{}
	for _, namespace := range namespaces {
		has[t.owner(namespace)]++
	}
	for _, e := range t.ranges {
		ranges[e.owner]++
	}
	fmt.Printf("\n   %-12s %10s %10s %10s\n", "replica", "namespaces", "ranges", "baked")
	for _, name := range slices.Sorted(maps.Keys(d.replicas)) {
		fmt.Printf("   %-12s %10d %10d %10d\n", name+" "+d.replicas[name].state, has[name], ranges[name],
			baked[name]-before[name])
	}
}

// showLoss prints how long it took until the namespaces of a lost replica belonged to others.
func showLoss(lost string, took time.Duration, balancer bool) {
	bound, also := leaseDuration+2*retryPeriod, ""
	if balancer {
		bound, also = 2*leaseDuration+4*retryPeriod, ", as it was the balancer, too"
	}
	fmt.Printf("   the namespaces of %s belonged to others after %.1f s; within %.0f s is promised%s\n", lost,
		took.Seconds(), bound.Seconds(), also)
}

// showBrokenOff prints how often replicas broke off work between the two counts.
func showBrokenOff(before, now map[string]int) {
	for _, name := range slices.Sorted(maps.Keys(now)) {
		if n := now[name] - before[name]; n > 0 {
			fmt.Printf("   %s broke off %d orders, or didn't begin them: it didn't own them then\n", name, n)
		}
	}
}
