//go:build linux

package judge

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/kubewright/kubewright/test/e2e/sharded/internal/wire"
)

// History describes a round, in seconds from its fault: how many ranges each member owned, and what happened
// to a change: who owned its object, and who listed and wrote it.
func History(r Records, round int, slow Slow) string {
	type event struct {
		at   wire.Time
		text string
	}
	var events []event
	note := func(at wire.Time, format string, args ...any) {
		events = append(events, event{at, fmt.Sprintf(format, args...)})
	}
	begun, ended := r.Rounds[round].Fault, r.Rounds[round].Ended
	tables := slices.SortedStableFunc(slices.Values(r.Tables),
		func(a, b Table) int { return cmp.Compare(a.Done, b.Done) })
	shares, owner := "", ""
	for _, t := range tables {
		if t.Done > ended {
			continue
		}
		ranges := map[string]int{}
		for _, e := range t.Entries {
			ranges[e.Owner]++
		}
		if now := fmt.Sprint(ranges); t.Done >= begun && now != shares {
			shares = now
			note(t.Done, "ranges: %s", now)
		}
		if now := t.at(slow.Hash).Owner; now != owner {
			owner = now
			if t.Done >= begun {
				note(t.Done, "the object is %q's", now)
			}
		}
	}
	for _, l := range r.Lists {
		if l.Began < begun || l.Began > ended || !l.Ranges.Contains(slow.Hash) {
			continue
		}
		took := "and doesn't get to the end"
		if l.Ended > 0 {
			took = fmt.Sprintf("for %.2f s", l.Ended.Sub(l.Began).Seconds())
		}
		note(l.Began, "%s lists %v %s", l.Member, l.Ranges, took)
	}
	for _, w := range r.Writes {
		if w.Hash == slow.Hash && w.Stamped && w.Arrived >= begun && w.Arrived <= slow.Reconciled {
			note(w.Arrived, "%s writes %s", w.Member, w.Object)
		}
	}
	note(slow.At, "the object %s is changed", slow.UID)
	note(slow.Reconciled, "it is reconciled")
	slices.SortStableFunc(events, func(a, b event) int { return cmp.Compare(a.at, b.at) })
	var text strings.Builder
	for _, e := range events {
		fmt.Fprintf(&text, "%6.2f s %s\n", e.at.Sub(begun).Seconds(), e.text)
	}
	return text.String()
}
