package sharding

import (
	"errors"
	"fmt"
	"slices"
)

// Status is what a member knows of its group.
type Status struct {
	// Owned are the ranges that the member may act on now.
	Owned []Owned
	// Members is how many members own ranges.
	Members int
	// Unowned are the ranges that nobody owns, and UnownedObjects is how many objects were in them when they
	// were counted last.
	Unowned        []Range
	UnownedObjects int
	// Giving are the ranges that the member is asked to give and hasn't given yet.
	Giving []Range
	// Gained and Lost count the ranges that the table has given the member, and taken from it, since it
	// exists.
	Gained, Lost uint64
	// Working is how much work is going on, Waiting how much waits until it may begin.
	Working, Waiting int
	// Err says why the member begins no work at all, nil if it may.
	Err error
}

// Status returns what the member knows of its group now.
func (m *Member) Status() Status {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := Status{Gained: m.gained, Lost: m.lost, Working: len(m.runs), Waiting: m.waiting}
	switch {
	case m.refused != nil:
		s.Err = m.refused
	case m.current == nil:
		s.Err = errors.New("sharding: the table hasn't been read yet, or was deleted")
	case !m.holds():
		s.Err = fmt.Errorf("sharding: the lease %s isn't renewed", m.leases.memberName(m.config.Identity))
	case !m.acts():
		s.Err = errors.New("sharding: the table hasn't been confirmed yet since the lease holds")
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
	s.Members = len(owners)
	return s
}

// Health returns an error if the member doesn't act, or if there are ranges that nobody owns.
func (m *Member) Health() error {
	s := m.Status()
	if s.Err == nil && len(s.Unowned) > 0 {
		return fmt.Errorf("sharding: %d ranges with %d objects have no owner, the first is %s",
			len(s.Unowned), s.UnownedObjects, s.Unowned[0])
	}
	return s.Err
}
