package sharding

import (
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
)

// observer measures how long the Leases of members haven't changed. It counts only time in which it could
// read. It is a member itself, so its own renewals, when they come in, show that renewals reach the server
// and come back. While they don't come in, others may renew unseen, or may be unable to renew. After such a
// gap all members are observed anew.
//
// It isn't safe for concurrent use.
type observer struct {
	self string
	// longest is the longest time between two own renewals that counts as reading without a gap.
	longest time.Duration
	// seen is when the last own renewal came in, reading for how long there has been no gap.
	seen    time.Time
	reading time.Duration
	members map[string]*observed
}

// observed is a member as the observer knows it.
type observed struct {
	// lease is the last one that came in, nil if none did. gone means that it was deleted: it doesn't change
	// any more, but it hasn't run out yet.
	lease  *coordinationv1.Lease
	gone   bool
	report report
	// renews is set once the Lease has changed, or appeared, while the observer was reading. Without that it
	// may be left from a member that doesn't run any more.
	renews bool
	// unchanged is how long the Lease hasn't changed, as far as counted; changed is when the last change came
	// in.
	unchanged time.Duration
	changed   time.Time
	// first is when the member was first seen.
	first time.Time
}

// duration returns the LeaseDuration in the member's Lease, rounded up to seconds, or 0 if it isn't known.
// Members of one group differ in it during a rolling update that changes it.
func (o *observed) duration() time.Duration {
	if o.lease == nil || o.lease.Spec.LeaseDurationSeconds == nil {
		return 0
	}
	return time.Duration(*o.lease.Spec.LeaseDurationSeconds) * time.Second
}

func newObserver(self string, longest time.Duration) *observer {
	return &observer{self: self, longest: longest, members: map[string]*observed{}}
}

// observeLease records a member's Lease that came in.
func (o *observer) observeLease(identity string, lease *coordinationv1.Lease, r report, now time.Time) {
	m := o.members[identity]
	isNew := m == nil
	if isNew {
		m = &observed{first: now}
		o.members[identity] = m
	}
	if m.lease != nil && m.lease.ResourceVersion == lease.ResourceVersion && m.lease.UID == lease.UID {
		return
	}
	m.lease, m.report, m.gone = lease, r, false
	m.unchanged, m.changed = 0, now
	if identity == o.self {
		o.countTime(now)
	}
	m.renews = !isNew || o.reading > 0 || identity == o.self
}

// countTime adds the time since the last own renewal came in.
func (o *observer) countTime(now time.Time) {
	passed := now.Sub(o.seen)
	if passed > o.longest {
		o.reading = 0
	} else {
		o.reading += passed
	}
	for _, m := range o.members {
		switch {
		case passed > o.longest:
			m.unchanged, m.changed, m.renews = 0, now, false
		case m.changed.After(o.seen):
			m.unchanged = now.Sub(m.changed)
		default:
			m.unchanged += passed
		}
	}
	o.seen = now
}

// recordDeletion records that a member's Lease was deleted.
func (o *observer) recordDeletion(identity string) {
	if m := o.members[identity]; m != nil {
		m.gone = true
	}
}

// recordMissing records an owner whose Lease has never come in.
func (o *observer) recordMissing(identity string, now time.Time) {
	if o.members[identity] == nil {
		o.members[identity] = &observed{first: now, changed: now, gone: true}
	}
}
