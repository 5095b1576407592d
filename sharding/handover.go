package sharding

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/kubewright/kubewright/runtime/shard"
)

// requestedFrom returns the index of an entry that its owner is asked to hand over, if there is one.
func (t table) requestedFrom(owner string) (int, bool) {
	i := slices.IndexFunc(t.Ranges, func(e entry) bool { return e.Owner == owner && e.To != "" })
	return i, i >= 0
}

// choosePart returns which part of entry i its owner hands over, and how many objects that has. If the entry
// adjoins a range of the new owner, the part does, too. hashes are those of the entry's objects; most is how
// many may move if they can't be parted. It returns false if there is no such part.
func (t table) choosePart(i int, hashes []uint64, most int) (shard.Range, int, bool) {
	e, span := t.Ranges[i], t.rangeAt(i)
	if e.Part == 0 || e.Part >= len(hashes) {
		return span, len(hashes), true
	}
	before := i > 0 && t.Ranges[i-1].nextOwner() == e.To
	after := i+1 < len(t.Ranges) && t.Ranges[i+1].nextOwner() == e.To
	slices.Sort(hashes)
	return cutOff(span, hashes, e.Part, most, after && !before)
}

var (
	errNotCounted = errors.New("the objects of the range aren't known yet")
	errWithdrawn  = errors.New("the range is no longer requested")
)

// handOvers hands over what the member is asked for, one range after the other.
func (m *Member) handOvers(ctx context.Context) {
	for {
		var current *version
		var i int
		requested := func() (ok bool) {
			if current = m.current; m.acts() {
				i, ok = current.requestedFrom(m.config.Identity)
			}
			return ok
		}
		if !m.await(ctx, nil, requested) {
			return
		}
		span := current.rangeAt(i)
		err := m.handOver(ctx, span, current.Ranges[i].To)
		if err == nil || errors.Is(err, errWithdrawn) {
			m.recordOutcome(ctx, giving, nil)
			continue
		}
		if !errors.Is(err, errNotCounted) {
			m.recordOutcome(ctx, giving, fmt.Errorf("%s: %w", span, err))
		}
		if !m.pause(ctx, m.config.RetryPeriod) {
			return
		}
	}
}

// handOver hands a range, or a part of it, over to another member, once the range was worked on and the work
// there has ended. Work begins there again only when the outcome of the write is known.
func (m *Member) handOver(ctx context.Context, span shard.Range, to string) error {
	t, err := m.awaitWorked(ctx, span, to)
	if err != nil {
		return err
	}
	i := t.indexOf(span.First)
	e := t.Ranges[i]
	span = t.rangeAt(i)
	hashes, known := m.config.Hashes(span)
	if !known && e.Part > 0 {
		return errNotCounted
	}
	objects := e.Objects
	if known {
		objects = len(hashes)
	}
	all := 0
	for _, r := range t.ownedBy(m.config.Identity) {
		hashes, _ := m.config.Hashes(r.Range)
		all += len(hashes)
	}
	part, given, possible := t.choosePart(i, slices.Clone(hashes), all/2)
	if !known {
		given = objects
	}
	if !possible {
		return m.rewrite(ctx, func(t table) (table, error) {
			if !m.stillRequested(t, span, e.To) {
				return t, errWithdrawn
			}
			return t.withoutRequest(span.First, objects), nil
		})
	}
	if err := m.drain(ctx, part); err != nil {
		return err
	}
	defer m.resume(part)
	return m.rewrite(ctx, func(t table) (table, error) {
		if !m.stillRequested(t, part, e.To) {
			return t, errWithdrawn
		}
		return t.reassign(part, e.To, given), nil
	})
}

// awaitWorked waits until a requested range was worked on: until its objects have been in the informers for
// JoinDelay. Without that, the range of a dead owner could move from member to member, each of which lists it
// and none of which works on what has changed there. It waits for at most DrainGrace + JoinDelay, and returns
// the table in which the range is still requested.
func (m *Member) awaitWorked(ctx context.Context, span shard.Range, to string) (table, error) {
	c := &m.caches
	requested := func() bool { return m.current != nil && m.stillRequested(m.current.table, span, to) }
	isDone := func() bool {
		return !requested() || len(c.parts) == 0 || c.err != nil || c.worked.Covers(shard.Join(span))
	}
	if !m.await(ctx, m.config.clock.after(m.config.DrainGrace+m.config.JoinDelay), isDone) {
		return table{}, context.Cause(ctx)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if !requested() {
		return table{}, errWithdrawn
	}
	return m.current.table, nil
}

// stillRequested reports whether a table asks the member to hand the range that part is in over to another.
func (m *Member) stillRequested(t table, part shard.Range, to string) bool {
	i := t.indexOf(part.First)
	return t.Ranges[i].Owner == m.config.Identity && t.Ranges[i].To == to && part.Last <= t.rangeAt(i).Last
}
