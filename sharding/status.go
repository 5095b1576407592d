package sharding

import (
	"fmt"
	"slices"
)

// Status is what a member knows of its group. What it says of the table is of the last one that the member
// could read.
type Status struct {
	// Owned are the ranges that the member may act on now.
	Owned []Owned
	// Owners is how many members own ranges.
	Owners int
	// Unowned are the ranges that nobody owns, and UnownedObjects is how many objects were in them when they
	// were counted last.
	Unowned        []Range
	UnownedObjects int
	// Giving are the ranges that the member is asked to give and hasn't given yet.
	Giving []Range
	// Gained and Lost count the ranges that the table has given the member, and taken from it, since it
	// exists.
	Gained, Lost uint64
	// Running is how much work is going on, Waiting how much waits until it may begin.
	Running, Waiting int
	// Hung are the namespaces, or UIDs, of work that goes on though its context ended DrainGrace ago, as its
	// range is to be given away. The member doesn't give the range before that work has ended.
	Hung []string
	// Err says why the member begins no work at all, nil if it may.
	Err error
}

// Status returns what the member knows of its group now.
func (m *Member) Status() Status {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := Status{Gained: m.gained, Lost: m.lost, Running: len(m.runs), Waiting: m.waiting}
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
		s.Err = fmt.Errorf("sharding: the table hasn't been read yet, or was deleted%s", m.lastly(watching))
	case !m.holds():
		s.Err = fmt.Errorf("sharding: the lease %s isn't renewed%s",
			m.leases.memberName(m.config.Identity), m.lastly(renewing))
	case !m.acts():
		s.Err = fmt.Errorf("sharding: the table hasn't been confirmed yet since the lease holds%s",
			m.lastly(confirming))
	default:
		// With an error no work begins, though what is going on may go on.
		s.Owned, s.Err = slices.Clone(m.owned), m.caches.err
	}
	if m.current == nil {
		return s
	}
	owners := map[string]bool{}
	for i, e := range m.current.Ranges {
		switch {
		case e.Owner == "":
			s.Unowned = append(s.Unowned, m.current.span(i))
			s.UnownedObjects += e.Objects
		case e.Owner == m.config.Identity && e.To != "":
			s.Giving = append(s.Giving, m.current.span(i))
		}
		owners[e.Owner] = true
	}
	delete(owners, "")
	s.Owners = len(owners)
	return s
}

// Health returns an error if the member doesn't act, if its work hangs, or if there are ranges that nobody
// owns.
func (m *Member) Health() error {
	switch s := m.Status(); {
	case s.Err != nil:
		return s.Err
	case len(s.Hung) > 0:
		return fmt.Errorf("sharding: work on %q doesn't end, and its range can't be given away before", s.Hung)
	case len(s.Unowned) > 0:
		return fmt.Errorf("sharding: ranges without an owner: %d, with %d objects; the first is %s",
			len(s.Unowned), s.UnownedObjects, s.Unowned[0])
	}
	return nil
}
