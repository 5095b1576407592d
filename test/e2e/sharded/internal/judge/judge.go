//go:build linux

package judge

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubewright/kubewright/internal/guarantee"
	"github.com/kubewright/kubewright/runtime/shard"
	"github.com/kubewright/kubewright/test/e2e/sharded/internal/wire"
)

// Limits are the durations that Judge allows.
type Limits struct {
	// RenewDeadline is how long a Lease holds after its renewal was sent.
	RenewDeadline time.Duration
	// Slack is how long the machine may take for what has no bound: sending a change, and reconciling what a new
	// owner has listed.
	Slack time.Duration
}

// Verdict is the result of Judge.
type Verdict struct {
	// Wrong describes everything that must not happen, each after the guarantee that it breaks.
	Wrong []string
	// Writes counts the replicas' writes, Late those that arrived when they were no longer allowed.
	Writes, Late int
	// Kinds sums up the rounds of each kind.
	Kinds map[string]*Kind
	// Slow has the slowest change of each round in which a change took longer than the bound and the longest
	// list, by the start of the round.
	Slow map[wire.Time]Slow
}

// Slow is a change that was reconciled late.
type Slow struct {
	Change
	Reconciled wire.Time
}

// Kind sums up the rounds of one kind.
type Kind struct {
	Rounds, Changes int
	// Gap is the longest time from a change, or from the fault if that came later, to the reconcile. List is the
	// duration of the longest list, which is part of a gap.
	Gap, Bound, List time.Duration
	// Lists counts all lists, Again those of ranges that the member already had.
	Lists, Again int
}

// Judge checks all records.
func Judge(r Records, limits Limits) Verdict {
	j := &judge{
		Records: r, limits: limits, verdict: Verdict{Kinds: map[string]*Kind{}, Slow: map[wire.Time]Slow{}},
		longest: map[wire.Time]time.Duration{},
	}
	for _, round := range r.Rounds {
		kind := j.kind(round.Kind)
		kind.Rounds++
		kind.Bound = max(kind.Bound, round.Bound)
	}
	j.Tables = slices.SortedStableFunc(slices.Values(r.Tables),
		func(a, b Table) int { return cmp.Compare(a.Done, b.Done) })
	j.writes()
	j.lists()
	j.changes()
	return j.verdict
}

type judge struct {
	Records
	limits  Limits
	verdict Verdict
	// longest is the duration of the longest list of each round, by the start of the round.
	longest map[wire.Time]time.Duration
}

func (j *judge) wrong(broken guarantee.Guarantee, format string, args ...any) {
	j.verdict.Wrong = append(j.verdict.Wrong, fmt.Sprintf("%s: "+format, append([]any{broken}, args...)...))
}

func (j *judge) kind(name string) *Kind {
	if j.verdict.Kinds[name] == nil {
		j.verdict.Kinds[name] = &Kind{}
	}
	return j.verdict.Kinds[name]
}

// round returns the round of a moment, and false if it was between rounds.
func (j *judge) round(at wire.Time) (Round, bool) {
	i := slices.IndexFunc(j.Rounds, func(r Round) bool { return r.Began <= at && at <= r.Ended })
	if i < 0 {
		return Round{}, false
	}
	return j.Rounds[i], true
}

// writes checks each write at the moment of the look-up: the member's Lease held, and the range was its own.
func (j *judge) writes() {
	leases, tokens := j.leases(), j.tokens()
	for _, w := range j.Writes {
		j.verdict.Writes++
		if !w.Stamped {
			j.wrong(guarantee.OneOwner, "%s wrote %s, which its member didn't allow", w.Member, w.Object)
			continue
		}
		lease := leases[w.Member]
		end := lease.end(w.Looked)
		if w.Looked > end {
			j.wrong(guarantee.OneOwner, "%s wrote %s: looked up %v after the end of its lease, arrived %v later",
				w.Member, w.Object, w.Looked.Sub(end), w.Arrived.Sub(w.Looked))
		}
		if other, ok := j.taken(w, w.Looked); ok {
			j.wrong(guarantee.OneOwner,
				"%s wrote %s by token %d: looked up %v after %s got it by token %d, arrived %v later",
				w.Member, w.Object, w.Token, w.Looked.Sub(other.done), other.Owner, other.Token,
				w.Arrived.Sub(w.Looked))
		}
		if !w.Range.Contains(w.Hash) || !tokens[token{w.Member, w.Token}].Contains(w.Hash) {
			j.wrong(guarantee.OneOwner, "%s wrote %s in the range %v by token %d, which no table gave it",
				w.Member, w.Object, w.Range, w.Token)
		}
		if _, taken := j.taken(w, w.Arrived); taken || w.Arrived > lease.end(w.Arrived) {
			j.verdict.Late++
		}
	}
}

// token is a token of an owner.
type token struct {
	owner string
	token int64
}

// tokens returns the hashes that any table has given with each owner's token.
func (j *judge) tokens() map[token]shard.Ranges {
	tokens := map[token]shard.Ranges{}
	for _, t := range j.Tables {
		for i, e := range t.Entries {
			key := token{e.Owner, e.Token}
			tokens[key] = tokens[key].Plus(shard.Ranges{t.span(i)})
		}
	}
	return tokens
}

// lease is a member's Lease: the times of the answers to its renewals, and when the Lease ends after each of
// these.
type lease struct{ answered, ends []wire.Time }

func (j *judge) leases() map[string]lease {
	leases := map[string]lease{}
	for _, r := range slices.SortedStableFunc(slices.Values(j.Renewals),
		func(a, b Renewal) int { return cmp.Compare(a.Answered, b.Answered) }) {
		l, end := leases[r.Member], r.Sent.Add(j.limits.RenewDeadline)
		if n := len(l.ends); n > 0 {
			end = max(end, l.ends[n-1])
		}
		leases[r.Member] = lease{append(l.answered, r.Answered), append(l.ends, end)}
	}
	return leases
}

// end returns when the Lease ends, by the answers up to a moment.
func (l lease) end(known wire.Time) wire.Time {
	n, found := slices.BinarySearch(l.answered, known)
	if found {
		n++
	}
	if n == 0 {
		return 0
	}
	return l.ends[n-1]
}

// taking is an entry of a table that was written.
type taking struct {
	Entry
	done wire.Time
}

// taken returns the entry by which, before a moment, a table gave the object of a write to another member, by
// a higher token.
func (j *judge) taken(w Write, before wire.Time) (taking, bool) {
	n, _ := slices.BinarySearchFunc(j.Tables, before,
		func(t Table, before wire.Time) int { return cmp.Compare(t.Done, before) })
	for _, t := range slices.Backward(j.Tables[:n]) {
		e := t.at(w.Hash)
		if e.Token <= w.Token {
			break
		}
		if e.Owner != w.Member {
			return taking{e, t.Done}, true
		}
	}
	return taking{}, false
}

// lists checks that members don't list again what they have.
func (j *judge) lists() {
	type event struct {
		at    wire.Time
		list  *List
		table *Table
	}
	var events []event
	for i := range j.Lists {
		l := &j.Lists[i]
		events = append(events, event{at: l.Began, list: l})
	}
	for i := range j.Tables {
		t := &j.Tables[i]
		events = append(events, event{at: t.Began, table: t})
	}
	slices.SortStableFunc(events, func(a, b event) int { return cmp.Compare(a.at, b.at) })
	has := map[string]shard.Ranges{}
	for _, e := range events {
		if e.table != nil {
			for member, ranges := range has {
				has[member] = ranges.And(e.table.Of(member))
			}
			continue
		}
		l := e.list
		round, in := j.round(l.Began)
		if in {
			kind := j.kind(round.Kind)
			kind.Lists++
			if l.Ended > 0 && l.Member != round.Frozen {
				j.longest[round.Began] = max(j.longest[round.Began], l.Ended.Sub(l.Began))
				kind.List = max(kind.List, l.Ended.Sub(l.Began))
			}
			if again := has[l.Member].And(l.Ranges); len(again) > 0 {
				kind.Again++
				if round.Filters {
					j.wrong(guarantee.BoundedLoad, "round %q: %s lists %v again, which it has", round.Kind, l.Member,
						again)
				}
			}
		}
		if l.Ended > 0 {
			has[l.Member] = has[l.Member].Plus(l.Ranges)
		}
	}
}

// changes checks that each change was reconciled in time.
func (j *judge) changes() {
	sights, slowest := map[types.UID][]Sight{}, map[wire.Time]time.Duration{}
	for _, s := range j.Sights {
		sights[s.UID] = append(sights[s.UID], s)
	}
	for _, c := range j.Changes {
		round, ok := j.round(c.At)
		if !ok {
			continue
		}
		kind := j.kind(round.Kind)
		kind.Changes++
		i := slices.IndexFunc(sights[c.UID], func(s Sight) bool {
			return s.Gone || !c.Deleted && s.Observed >= c.Generation
		})
		if i < 0 {
			j.wrong(guarantee.NoneUnowned, "round %q: generation %d of %s was never reconciled", round.Kind,
				c.Generation, c.UID)
			continue
		}
		seen, from := sights[c.UID][i].At, c.At
		if seen > round.Fault {
			from = max(from, round.Fault)
		}
		gap := seen.Sub(from)
		kind.Gap = max(kind.Gap, gap)
		allowed := round.Bound + j.longest[round.Began]
		if gap > allowed && gap > slowest[round.Began] {
			slowest[round.Began], j.verdict.Slow[round.Began] = gap, Slow{c, seen}
		}
		if allowed += j.limits.Slack; gap > allowed {
			j.wrong(guarantee.NoneUnowned,
				"round %q: generation %d of %s was reconciled after %v, not after %v + the list, %v in all",
				round.Kind, c.Generation, c.UID, gap, round.Bound, allowed)
		}
	}
}
