package sharding

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/kubewright/kubewright/runtime/shard"
)

// Status is what a member knows of itself and its group, by the last table that it has read.
type Status struct {
	// Owned are the ranges that the member may act on now.
	Owned []Owned
	// Since is when Owned last changed, the zero time if it never has.
	Since time.Time
	// Owners is how many members own ranges.
	Owners int
	// Unowned are the ranges that nobody owns, UnownedObjects is how many objects they had when they were
	// counted last.
	Unowned        []shard.Range
	UnownedObjects int
	// UnownedSince is since when these have been the ranges without an owner, zero if there are none, or if
	// these were when this member began to read the table.
	UnownedSince time.Time
	// Giving are the ranges that the member is asked to hand over and still has.
	Giving []shard.Range
	// Gained and Lost count the ranges that the member has got and lost by the table, since NewMember.
	Gained, Lost uint64
	// LostMembers are those whose Leases had run out when this member was last given ranges of such members, at
	// LostAt.
	LostMembers []string
	LostAt      time.Time
	// Running is how many calls of Do run their function, Waiting how many wait to begin.
	Running, Waiting int
	// Hung are the namespaces, or UIDs, of work that still runs though its context ended DrainGrace ago,
	// because its range is to move. The range doesn't move before that work has ended.
	Hung []string
	// Err is why the member may begin no work on any range, nil if it may.
	Err error
	// Started is set if Run was called, Left if it has returned.
	Started, Left bool
}

// Status returns what the member knows of its group now.
func (m *Member) Status() Status {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := Status{
		Gained: m.gained, Lost: m.lost, Running: len(m.runs), Waiting: m.waiting, Started: m.ran, Left: m.left,
		Since: m.ownedSince, LostMembers: slices.Clone(m.lostMembers), LostAt: m.lostAt,
	}
	for r := range m.runs {
		if r.hangs {
			s.Hung = append(s.Hung, r.value)
		}
	}
	slices.Sort(s.Hung)
	switch {
	case m.refused != nil:
		s.Err = m.refused
	case m.current == nil:
		s.Err = m.withLast(watching, errors.New("sharding: the table hasn't been read yet, or was deleted"))
	case !m.holds():
		s.Err = m.withLast(renewing, fmt.Errorf("sharding: the lease %s isn't renewed",
			m.leases.memberName(m.config.Identity)))
	case !m.acts():
		s.Err = m.withLast(confirming,
			errors.New("sharding: the table hasn't been confirmed yet since the lease began to hold"))
	default:
		// With an error no work begins, but running work may go on.
		s.Owned, s.Err = slices.Clone(m.owned), m.caches.err
	}
	if m.current == nil {
		return s
	}
	s.UnownedSince = m.unownedSince
	owners := map[string]bool{}
	for i, e := range m.current.Ranges {
		switch {
		case e.Owner == "":
			s.Unowned = append(s.Unowned, m.current.rangeAt(i))
			s.UnownedObjects += e.Objects
		case e.Owner == m.config.Identity && e.To != "":
			s.Giving = append(s.Giving, m.current.rangeAt(i))
		}
		owners[e.Owner] = true
	}
	delete(owners, "")
	s.Owners = len(owners)
	return s
}

// Health returns an error if the member may begin no work, if its work hangs, or if any range has no owner.
func (m *Member) Health() error {
	switch s := m.Status(); {
	case s.Err != nil:
		return s.Err
	case len(s.Hung) > 0:
		return fmt.Errorf("sharding: work on %q doesn't end, and keeps its range from moving", s.Hung)
	case len(s.Unowned) > 0:
		return fmt.Errorf("sharding: ranges without an owner: %d; the first is %s", len(s.Unowned), s.Unowned[0])
	}
	return nil
}
