package sharding

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/klog/v2"
)

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
	// current is the last table that was read or written, nil if there is none. latest is that too, but stays
	// when the table is deleted.
	current, latest *version
	// leaving says that the member gives up its ranges, and reportedLeaving that its Lease says so.
	leaving, reportedLeaving bool
	// urgent says that there is something to report that shouldn't wait.
	urgent bool
	// refused says why the member doesn't take part, if it doesn't.
	refused error
	// draining are ranges that are about to be given away: no work begins there. waiting counts the work that
	// may not begin yet.
	draining []Range
	runs     map[*run]struct{}
	waiting  int
	// owned are the ranges that the member may act on, told those that Changed was told last.
	owned, told []Owned
	// troubles are what fails now, by what is tried.
	troubles map[string]*trouble
	// ran says that Run was called.
	ran bool
	// leading is the context of being elected.
	leading context.Context
	// caches are the informers, and which ranges they have. gained and lost count ranges that came and went.
	caches       caches
	gained, lost uint64
	// changed is closed, and replaced, when anything above changes.
	changed chan struct{}
	log     klog.Logger

	// counted are the pieces of the ranges countedRanges as they were at countedAt. They belong to the
	// renewals.
	counted       []piece
	countedRanges []Owned
	countedAt     time.Time
}

// NewMember returns a member that takes part once Run is called. It makes Config.Informers informers of a
// part, so call it before these start.
func NewMember(config Config) (*Member, error) {
	if err := config.complete(); err != nil {
		return nil, err
	}
	m := &Member{
		config: config, leases: leases{config.Leases, config.Group, config.RenewDeadline / 2},
		runs: map[*run]struct{}{}, troubles: map[string]*trouble{},
		changed: make(chan struct{}), log: klog.Background(),
	}
	if err := m.caches.add(config.Field, config.Informers); err != nil {
		return nil, err
	}
	if m.config.Hashes == nil {
		m.config.Hashes = m.caches.hashes
	}
	return m, nil
}

// Identity returns the member's identity, as it stands in the table: the one of its configuration and a
// random part.
func (m *Member) Identity() string { return m.config.Identity }

// Owns returns the range of a namespace, or a UID, and its token, and whether the member may act on it now.
// Ask again before every write that doesn't go through [Transport].
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

// Accepts reports whether work on a namespace, or a UID, is this member's: the table says so, even if the
// member may not act at the moment, because its Lease doesn't hold. Queues ask it; see queue.NewOwned.
func (m *Member) Accepts(value string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.named(Hash(value))
}

// named needs the lock.
func (m *Member) named(hash uint64) bool {
	return m.current != nil && m.refused == nil && !m.leaving &&
		m.current.Ranges[m.current.at(hash)].Owner == m.config.Identity
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
	m.settle("its lease is renewed")
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
	var refused error
	if !m.config.shards(v.Field, v.Kinds) {
		refused = fmt.Errorf(
			"sharding: the group %s shards %v by %s, this member %v by %s: it doesn't take part",
			m.config.Group, v.Kinds, v.Field, m.config.Kinds, m.config.Field)
	}
	kept := v.keptBy(m.config.Identity, m.latest)
	if m.refused != nil {
		kept = nil // what was dropped since has to be heard of again
	}
	m.refuse(refused)
	before, after := m.latest.rangesOf(m.config.Identity), v.rangesOf(m.config.Identity)
	m.gained += uint64(len(after.Minus(before)))
	m.lost += uint64(len(before.Minus(after)))
	m.caches.follow(after, kept)
	m.current, m.latest = v, v
	m.settle(fmt.Sprintf("generation %d of the table", v.Generation))
}

// refuse notes why the member doesn't take part, nil if it does. It needs the lock.
func (m *Member) refuse(why error) {
	if why != nil && (m.refused == nil || m.refused.Error() != why.Error()) {
		m.log.Error(why, "Sharding: the member doesn't take part", "group", m.config.Group,
			"member", m.config.Identity)
	}
	m.refused = why
}

// forget notes that there is no table any more.
func (m *Member) forget() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.current = nil
	m.settle("the table was deleted")
}

// settle makes work follow a change of what is owned, and logs why it has changed. It needs the lock.
func (m *Member) settle(why string) {
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
		came, went := rangesOf(owned).Minus(rangesOf(m.owned)), rangesOf(m.owned).Minus(rangesOf(owned))
		if len(came)+len(went) > 0 {
			m.log.Info("Sharding: the member acts on other ranges", "group", m.config.Group,
				"member", m.config.Identity, "began", came, "ended", went, "because", why)
		}
		m.owned, m.urgent = owned, true
	}
	m.signal()
}

// changes calls Changed, without the lock, as it may add to a queue, which asks the member.
func (m *Member) changes(ctx context.Context) {
	for m.config.Changed != nil &&
		m.await(ctx, nil, func() bool { return !slices.Equal(m.owned, m.told) }) {
		m.tellChange()
	}
}

// tellChange calls Changed if there is anything to tell.
func (m *Member) tellChange() {
	m.mu.Lock()
	owned, isNew := slices.Clone(m.owned), !slices.Equal(m.owned, m.told)
	m.told = m.owned
	m.mu.Unlock()
	if isNew && m.config.Changed != nil {
		m.config.Changed(owned)
	}
}

// report returns what there is to report.
func (m *Member) report() report {
	m.mu.Lock()
	r := report{Field: m.config.Field, Kinds: m.config.Kinds, Leaving: m.leaving}
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
