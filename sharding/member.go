package sharding

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// ErrNotOwned is the error of work on a hash that the member doesn't own, or may not act on now. It is also
// why the context of work ends that the member must stop.
var ErrNotOwned = errors.New("not owned by this member")

// Member is one replica's part in a group. Its methods are safe for concurrent use.
type Member struct {
	config Config
	leases leases

	mu sync.Mutex
	// until is when the member's Lease ends, by its own clock.
	until time.Time
	// hold counts the times that the Lease began to hold, after none or a lapse.
	hold int
	// confirmed says that the table was written or read in this hold so that an earlier decision of a
	// balancer, to take the member's ranges, can't be carried out any more.
	confirmed bool
	// current is the last table that was read or written, nil if there is none. highest is the highest
	// generation of any.
	current *version
	highest int64
	// leaving says that the member gives up its ranges, and reportedLeaving that its Lease says so.
	leaving, reportedLeaving bool
	// urgent says that there is something to report that shouldn't wait.
	urgent bool
	// refused says why the member doesn't take part, if it doesn't.
	refused error
	// draining are ranges that are about to be given away: no work begins there.
	draining []Range
	runs     map[*run]struct{}
	// owned are the ranges that Changed was told last.
	owned []Owned
	// leading is the context of being elected.
	leading context.Context
	// changed is closed, and replaced, when anything above changes.
	changed chan struct{}

	// counted are the pieces of the ranges countedRanges as they were at countedAt. They belong to the
	// renewals.
	counted       []piece
	countedRanges []Owned
	countedAt     time.Time
}

// run is a piece of work.
type run struct {
	value  string
	hash   uint64
	cancel context.CancelCauseFunc
}

// NewMember returns a member that takes part once Run is called.
func NewMember(config Config) (*Member, error) {
	if err := config.complete(); err != nil {
		return nil, err
	}
	return &Member{
		config: config, leases: leases{config.Leases, config.Group, config.RenewDeadline / 2},
		runs: map[*run]struct{}{}, changed: make(chan struct{}),
	}, nil
}

// Identity returns the member's identity, as it stands in the table: the one of its configuration and a
// random part.
func (m *Member) Identity() string { return m.config.Identity }

// Do calls f if the member owns a namespace, or a UID, and may act on it, and returns ErrNotOwned if not. The
// context of f ends when the member must stop acting on it. Until f returns, the member doesn't give it to
// another one.
func (m *Member) Do(ctx context.Context, value string, f func(context.Context, Owned) error) error {
	hash := Hash(value)
	m.mu.Lock()
	owned, ok := m.owns(hash)
	if !ok || slices.ContainsFunc(m.draining, func(r Range) bool { return r.Contains(hash) }) {
		m.mu.Unlock()
		return ErrNotOwned
	}
	ctx, cancel := context.WithCancelCause(ctx)
	r := &run{value, hash, cancel}
	m.runs[r] = struct{}{}
	m.mu.Unlock()
	defer func() {
		cancel(nil)
		m.mu.Lock()
		defer m.mu.Unlock()
		delete(m.runs, r)
		if len(m.draining) > 0 {
			m.signal()
		}
	}()
	return f(ctx, owned)
}

// Owns returns the range of a namespace, or a UID, and its token, and whether the member may act on it now.
// Ask again before every write.
func (m *Member) Owns(value string) (Owned, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.owns(Hash(value))
}

// owns needs the lock.
func (m *Member) owns(hash uint64) (Owned, bool) {
	if !m.acts() {
		return Owned{}, false
	}
	i := m.current.at(hash)
	e := m.current.Ranges[i]
	return Owned{m.current.span(i), e.Token}, e.Owner == m.config.Identity
}

// OwnerOf returns the member that owns a namespace, or a UID, as far as this member knows, and false if
// nobody does.
func (m *Member) OwnerOf(value string) (string, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.current == nil {
		return "", false
	}
	owner := m.current.Ranges[m.current.at(Hash(value))].Owner
	return owner, owner != ""
}

// acts reports whether the member may act on the ranges that the table gives it. It needs the lock.
func (m *Member) acts() bool {
	return m.current != nil && m.refused == nil && m.confirmed && m.holds()
}

// holds reports whether the Lease holds. It needs the lock.
func (m *Member) holds() bool { return m.config.clock.now().Before(m.until) }

// signal wakes those who wait for a change. It needs the lock.
func (m *Member) signal() {
	close(m.changed)
	m.changed = make(chan struct{})
}

// renewed notes that a renewal was answered which was sent at a time by the member's clock, and what it said.
func (m *Member) renewed(sent time.Time, r report) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now, until := m.config.clock.now(), sent.Add(m.config.RenewDeadline)
	if !now.Before(until) {
		return // the answer is too old
	}
	if !now.Before(m.until) {
		// It didn't hold until just now, so ranges may have been given to others.
		m.hold++
		m.confirmed = false
	}
	m.until, m.reportedLeaving = until, r.Leaving
	m.settle()
}

// take notes a table that was read or written, unless it is older than the current one.
func (m *Member) take(v *version) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.takeLocked(v)
}

func (m *Member) takeLocked(v *version) {
	if m.current != nil && !v.newer(m.current) {
		return
	}
	if m.current == nil || m.current.lease.UID != v.lease.UID {
		m.urgent = true
	}
	m.current, m.highest, m.refused = v, max(m.highest, v.Generation), nil
	if !m.config.shards(v.Field, v.Kinds) {
		m.refused = fmt.Errorf(
			"sharding: the group %s shards %v by %s, this member %v by %s: it doesn't take part",
			m.config.Group, v.Kinds, v.Field, m.config.Kinds, m.config.Field)
	}
	m.settle()
}

// lost notes that there is no table any more.
func (m *Member) lost() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.current = nil
	m.settle()
}

// settle makes work and the callback follow a change of what is owned. It needs the lock.
func (m *Member) settle() {
	for r := range m.runs {
		if _, ok := m.owns(r.hash); !ok {
			r.cancel(ErrNotOwned)
		}
	}
	var owned []Owned
	if m.acts() {
		owned = m.current.of(m.config.Identity)
	}
	if !slices.Equal(owned, m.owned) {
		m.owned, m.urgent = owned, true
		if m.config.Changed != nil {
			m.config.Changed(slices.Clone(owned))
		}
	}
	m.signal()
}

// report returns what there is to report.
func (m *Member) report() report {
	m.mu.Lock()
	r := report{
		Field: m.config.Field, Kinds: m.config.Kinds, Generation: max(m.highest, 1), Leaving: m.leaving,
	}
	var owned []Owned
	if m.current != nil && m.refused == nil {
		// Also what the member may not act on now: nothing has to move because of a lapse.
		r.Table, owned = m.current.lease.UID, m.current.of(m.config.Identity)
	}
	m.urgent = false
	m.mu.Unlock()
	m.survey(owned)
	r.Pieces = m.counted
	return r
}

// recount is how often a member counts its objects while it has the same ranges.
const recount = 30 * time.Second

// survey counts the objects if that is due. A count that differs by less than a tenth from the last one is
// none.
func (m *Member) survey(owned []Owned) {
	now := m.config.clock.now()
	same := slices.Equal(owned, m.countedRanges)
	whole := !slices.ContainsFunc(owned, func(o Owned) bool { return within(m.counted, o.Range) == nil })
	if same && whole && now.Sub(m.countedAt) < recount {
		return
	}
	counted := survey(owned, m.config.Hashes)
	before, after := sum(m.counted), sum(counted)
	if !same || !whole || max(before-after, after-before)*10 >= max(before, 1) {
		m.counted = counted
	}
	m.countedRanges, m.countedAt = owned, now
}

// renew renews the Lease once, and returns it.
func (m *Member) renew(ctx context.Context, last *coordinationv1.Lease) (*coordinationv1.Lease, error) {
	r := m.report()
	for again := true; ; again = false {
		sent := m.config.clock.now()
		lease, err := m.leases.renew(ctx, last, m.config.Identity, m.config.LeaseDuration, r)
		if err == nil {
			m.renewed(sent, r)
			return lease, nil
		}
		if !again || !apierrors.IsConflict(err) && !apierrors.IsAlreadyExists(err) {
			return last, err
		}
		// Somebody else wrote it, or an earlier renewal, whose answer was lost, was carried out.
		if last, err = m.leases.get(ctx, m.leases.memberName(m.config.Identity)); err != nil {
			return nil, err
		}
	}
}
