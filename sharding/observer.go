package sharding

import (
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
)

// observer measures for how long the Leases of members haven't changed. Only time counts in which the observer could read:
// it is a member itself, and the sight of its own renewal proves that renewals reach the server and come back. While that
// is missing, others may renew unseen or be unable to; then all are observed anew.
//
// It isn't safe for concurrent use.
type observer struct {
	self string
	// longest is the longest time between two sights that counts as reading all the while.
	longest time.Duration
	seen    time.Time // of the observer's own Lease
	members map[string]*observed
}

// observed is a member as the observer knows it.
type observed struct {
	lease  *coordinationv1.Lease
	report report
	// unchanged is for how long the Lease hasn't changed, as far as counted.
	unchanged time.Duration
	// changed is when the last change came in.
	changed time.Time
	// first is when the member was seen first.
	first time.Time
	// gone says that the Lease was deleted. It doesn't change any more, which doesn't mean that it has ended.
	gone bool
}

func newObserver(self string, longest time.Duration) *observer {
	return &observer{self: self, longest: longest, members: map[string]*observed{}}
}

// see notes a member's Lease as it came in.
func (o *observer) see(identity string, lease *coordinationv1.Lease, r report, now time.Time) {
	m, known := o.members[identity]
	switch {
	case !known:
		m = &observed{first: now}
		o.members[identity] = m
	case m.lease != nil && m.lease.ResourceVersion == lease.ResourceVersion && !m.gone:
		return
	}
	m.lease, m.report, m.gone = lease, r, false
	m.unchanged, m.changed = 0, now
	if identity == o.self {
		o.tick(now)
	}
}

// tick counts the time since the last sight of the observer's own Lease.
func (o *observer) tick(now time.Time) {
	passed := now.Sub(o.seen)
	for _, m := range o.members {
		switch {
		case passed > o.longest:
			m.unchanged, m.changed = 0, now
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
	if m, known := o.members[identity]; known {
		m.gone = true
	}
}

// miss notes an owner that has no Lease, if nothing is known of it.
func (o *observer) miss(identity string, now time.Time) {
	if _, known := o.members[identity]; !known {
		o.members[identity] = &observed{first: now, changed: now, gone: true}
	}
}

// forget removes a member that nothing depends on any more.
func (o *observer) forget(identity string) { delete(o.members, identity) }
