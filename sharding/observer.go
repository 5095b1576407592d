package sharding

import (
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
)

// observer measures for how long the Leases of members haven't changed. Only time counts in which the
// observer could read: it is a member itself, and the sight of its own renewal shows that renewals reach the
// server and come back. While that is missing, others may renew unseen or be unable to; then all are observed
// anew.
//
// It isn't safe for concurrent use.
type observer struct {
	self string
	// longest is the longest time between two sights that counts as reading all the while.
	longest time.Duration
	// seen is when the last one was, and reading for how long they have come in time.
	seen    time.Time
	reading time.Duration
	members map[string]*observed
}

// observed is a member as the observer knows it.
type observed struct {
	// lease is the last one that came in, nil if none did. gone says that it was deleted: it doesn't change
	// any more, which doesn't mean that it has run out.
	lease  *coordinationv1.Lease
	gone   bool
	report report
	// renews says that the Lease has changed, or come, while the observer was reading. Of others nobody knows
	// whether they still run.
	renews bool
	// unchanged is for how long the Lease hasn't changed, as far as counted, and changed when the last change
	// came in.
	unchanged time.Duration
	changed   time.Time
	// first is when the member was seen first.
	first time.Time
}

// duration is how long the member's Lease lasts by what it says, rounded up to seconds: members of one group
// differ while somebody changes their LeaseDuration. It is 0 if nothing is known.
func (o *observed) duration() time.Duration {
	if o.lease == nil || o.lease.Spec.LeaseDurationSeconds == nil {
		return 0
	}
	return time.Duration(*o.lease.Spec.LeaseDurationSeconds) * time.Second
}

func newObserver(self string, longest time.Duration) *observer {
	return &observer{self: self, longest: longest, members: map[string]*observed{}}
}

// see notes a member's Lease as it came in.
func (o *observer) see(identity string, lease *coordinationv1.Lease, r report, now time.Time) {
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
		o.count(now)
	}
	m.renews = !isNew || o.reading > 0 || identity == o.self
}

// count adds the time since the last sight of the observer's own Lease.
func (o *observer) count(now time.Time) {
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

// leave notes that a member's Lease was deleted.
func (o *observer) leave(identity string) {
	if m := o.members[identity]; m != nil {
		m.gone = true
	}
}

// miss notes an owner that has no Lease, if nothing is known of it.
func (o *observer) miss(identity string, now time.Time) {
	if o.members[identity] == nil {
		o.members[identity] = &observed{first: now, changed: now, gone: true}
	}
}
