package sharding

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/kubewright/kubewright/runtime/shard"
	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/klog/v2"
)

// Member is a replica's membership in a group. Its methods are safe for concurrent use.
type Member struct {
	config Config
	leases leases

	mu sync.Mutex
	// until is when the member's Lease ends, by its own clock.
	until time.Time
	// hold counts how often the Lease has begun to hold: at first, and after each lapse.
	hold int
	// confirmed is set once confirm has succeeded in this hold: no earlier decision of a balancer can take the
	// member's ranges any more.
	confirmed bool
	// current is the last table that was read or written, nil if there is none. latest is the same, but stays
	// when the table is deleted.
	current, latest *version
	// leaving is set when the member gives up its ranges, reportedLeaving once its Lease reports that.
	leaving, reportedLeaving bool
	// urgent makes the next renewal come at once, because there is something to report.
	urgent bool
	// refused is why the member doesn't take part, nil if it does.
	refused error
	// draining are ranges that are about to move: no work begins there. waiting counts the work that may not
	// begin yet.
	draining []shard.Range
	runs     map[*run]struct{}
	waiting  int
	// owned are the ranges that the member may act on, notified those of the last call of Changed.
	// ownedSince is when owned last changed, unownedSince is UnownedSince of Status.
	owned, notified          []Owned
	ownedSince, unownedSince time.Time
	// troubles are what fails now, by action.
	troubles map[string]*trouble
	// ran is set when Run was called, left when it has returned.
	ran, left bool
	// leading is the context of the member's last election as the balancer, nil before the first.
	leading context.Context
	// caches are the informers and their ranges. gained and lost count ranges that came and went.
	caches       caches
	gained, lost uint64
	// lostMembers are the last members whose ranges came here because their Leases had run out, at lostAt.
	lostMembers []string
	lostAt      time.Time
	// changed is closed, and replaced, when anything above changes.
	changed chan struct{}
	log     klog.Logger

	// counted are the pieces of the ranges countedRanges, which were last counted at countedAt. Only the
	// renewals use them, without the lock.
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
	if err := m.caches.addInformers(config.Field, config.Informers); err != nil {
		return nil, err
	}
	if m.config.Hashes == nil {
		m.config.Hashes = m.caches.hashes
	}
	return m, nil
}

// Identity returns the member's identity in the table: that of its configuration and a random suffix.
func (m *Member) Identity() string { return m.config.Identity }

// Owns returns the range of a namespace, or a UID, with its token, and whether the member may act on it now.
// Call it again before every write that doesn't go through [FencingTransport].
func (m *Member) Owns(value string) (Owned, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.owns(shard.Hash(value))
}

// owns is Owns for a hash. The caller holds mu.
func (m *Member) owns(hash uint64) (Owned, bool) {
	if !m.acts() {
		return Owned{}, false
	}
	i := m.current.indexOf(hash)
	e := m.current.Ranges[i]
	return Owned{m.current.rangeAt(i), e.Token}, e.Owner == m.config.Identity
}

// Accepts reports whether the table assigns a namespace, or a UID, to this member, even if the member may not
// act at the moment because its Lease doesn't hold. It is false once the member leaves. It is meant for
// queues, see NewQueue.
func (m *Member) Accepts(value string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.isAssigned(shard.Hash(value))
}

// isAssigned is Accepts for a hash. The caller holds mu.
func (m *Member) isAssigned(hash uint64) bool {
	return m.current != nil && m.refused == nil && !m.leaving &&
		m.current.Ranges[m.current.indexOf(hash)].Owner == m.config.Identity
}

// OwnerOf returns the owner of a namespace, or a UID, by the last table that this member has read, and false
// if there is none.
func (m *Member) OwnerOf(value string) (string, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.current == nil {
		return "", false
	}
	owner := m.current.Ranges[m.current.indexOf(shard.Hash(value))].Owner
	return owner, owner != ""
}

// acts reports whether the member may act on the ranges that the table gives it. The caller holds mu.
func (m *Member) acts() bool {
	return m.current != nil && m.refused == nil && m.confirmed && m.holds()
}

// holds reports whether the Lease holds. The caller holds mu.
func (m *Member) holds() bool { return m.config.clock.now().Before(m.until) }

// signal wakes everything that waits for a change. The caller holds mu.
func (m *Member) signal() {
	close(m.changed)
	m.changed = make(chan struct{})
}

// recordRenewal records a successful renewal with report r. sent is when it was sent, by the member's clock.
func (m *Member) recordRenewal(sent time.Time, r report) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now, until := m.config.clock.now(), sent.Add(m.config.RenewDeadline)
	if !now.Before(until) {
		return // the answer is too old
	}
	if !now.Before(m.until) {
		// The Lease didn't hold until now, so ranges may have been given to others.
		m.hold++
		m.confirmed = false
	}
	m.until, m.reportedLeaving = until, r.Leaving
	m.updateOwned("its lease is renewed")
}

// applyTable records a table that was read or written, unless the current one is newer.
func (m *Member) applyTable(v *version) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.applyTableLocked(v)
}

func (m *Member) applyTableLocked(v *version) {
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
		kept = nil // queues have dropped keys since, so all objects must be delivered again
	}
	m.setRefused(refused)
	before, after := m.latest.rangesOf(m.config.Identity), v.rangesOf(m.config.Identity)
	why := fmt.Sprintf("generation %d of the table", v.Generation)
	if lost := v.lostTo(m.config.Identity, m.latest); len(lost) > 0 {
		why += ", lost: " + strings.Join(lost, ", ")
		m.lostMembers, m.lostAt = lost, time.Now()
	}
	m.gained += uint64(len(after.Minus(before)))
	m.lost += uint64(len(before.Minus(after)))
	m.caches.setTarget(after, kept)
	if unowned := v.ownedBy(""); len(unowned) == 0 {
		m.unownedSince = time.Time{}
	} else if m.latest != nil && !slices.Equal(unowned, m.latest.ownedBy("")) {
		m.unownedSince = time.Now()
	}
	m.current, m.latest = v, v
	m.updateOwned(why)
}

// setRefused records why the member doesn't take part, nil if it does. The caller holds mu.
func (m *Member) setRefused(why error) {
	if why != nil && (m.refused == nil || m.refused.Error() != why.Error()) {
		m.log.Error(why, "Sharding: the member doesn't take part", "group", m.config.Group,
			"member", m.config.Identity)
	}
	m.refused = why
}

// clearTable records that there is no table any more.
func (m *Member) clearTable() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.current = nil
	m.updateOwned("the table was deleted")
}

// updateOwned cancels work that the member may no longer do, updates owned, and logs why it has changed. The
// caller holds mu.
func (m *Member) updateOwned(why string) {
	for r := range m.runs {
		if _, ok := m.owns(r.hash); !ok {
			r.cancel(ErrNotOwned)
		}
	}
	var owned []Owned
	if m.acts() {
		owned = m.current.ownedBy(m.config.Identity)
	}
	if !slices.Equal(owned, m.owned) {
		came, went := rangesOf(owned).Minus(rangesOf(m.owned)), rangesOf(m.owned).Minus(rangesOf(owned))
		if len(came)+len(went) > 0 {
			m.log.Info("Sharding: the member acts on other ranges", "group", m.config.Group,
				"member", m.config.Identity, "began", came, "ended", went, "because", why)
		}
		m.owned, m.ownedSince, m.urgent = owned, time.Now(), true
	}
	m.signal()
}

// notifications calls Changed after changes, without the lock, as it may add to a queue that calls Accepts.
func (m *Member) notifications(ctx context.Context) {
	for m.config.Changed != nil &&
		m.await(ctx, nil, func() bool { return !slices.Equal(m.owned, m.notified) }) {
		m.notifyChanged()
	}
}

// notifyChanged calls Changed if the ranges differ from those of its last call.
func (m *Member) notifyChanged() {
	m.mu.Lock()
	owned, isNew := slices.Clone(m.owned), !slices.Equal(m.owned, m.notified)
	m.notified = m.owned
	m.mu.Unlock()
	if isNew && m.config.Changed != nil {
		m.config.Changed(owned)
	}
}

// report returns what the next renewal reports.
func (m *Member) report() report {
	m.mu.Lock()
	r := report{Field: m.config.Field, Kinds: m.config.Kinds, Leaving: m.leaving}
	var owned []Owned
	if m.current != nil && m.refused == nil {
		// Also ranges that the member may not act on now: nothing has to move because of a lapse.
		r.Table, owned = m.current.lease.UID, m.current.ownedBy(m.config.Identity)
	}
	m.urgent = false
	m.mu.Unlock()
	m.updateCounted(owned)
	r.Pieces = m.counted
	return r
}

// recount is how long a member's count of its objects is good while it has the same ranges.
const recount = 30 * time.Second

// updateCounted counts the objects if that is due. If the total differs by less than a tenth, the reported
// pieces stay.
func (m *Member) updateCounted(owned []Owned) {
	now := m.config.clock.now()
	same := slices.Equal(owned, m.countedRanges)
	whole := !slices.ContainsFunc(owned, func(o Owned) bool { return piecesWithin(m.counted, o.Range) == nil })
	if same && whole && now.Sub(m.countedAt) < recount {
		return
	}
	counted := divideIntoPieces(owned, m.config.Hashes)
	before, after := sumObjects(m.counted), sumObjects(counted)
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
			m.recordRenewal(sent, r)
			return lease, nil
		}
		if !again || !apierrors.IsConflict(err) && !apierrors.IsAlreadyExists(err) {
			return last, err
		}
		// Somebody else wrote it, or an earlier renewal was carried out whose answer was lost.
		if last, err = m.leases.get(ctx, m.leases.memberName(m.config.Identity)); err != nil {
			return nil, err
		}
	}
}
