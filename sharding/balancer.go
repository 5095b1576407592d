package sharding

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/kubewright/kubewright/runtime/shard"
	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/klog/v2"
)

// abandoned is the number of LeaseDurations after which an unchanged Lease is deleted.
const abandoned = 10

// balancer assigns ranges to members. There should be one at a time; several do no harm.
type balancer struct {
	member   *Member
	began    time.Time
	observer *observer
	// current is the last table that came in, nil if there is none.
	current *version
	// census is that of the current table, nil unless no range of it ever had an owner.
	census   *census
	counting sync.WaitGroup
	// unread are the texts that couldn't be parsed, by Lease, so that each is logged once.
	unread map[string]string
}

// balance runs a balancer until ctx ends.
func (m *Member) balance(ctx context.Context) {
	b := &balancer{
		member: m, began: m.config.clock.now(),
		observer: newObserver(m.config.Identity, 2*m.config.RetryPeriod), unread: map[string]string{},
	}
	defer b.counting.Wait()
	for {
		m.recordOutcome(ctx, observing, b.watchLeases(ctx))
		if !m.pause(ctx, m.config.RetryPeriod) {
			return
		}
	}
}

// watchLeases follows the Leases of the group until the watch ends.
func (b *balancer) watchLeases(ctx context.Context) error {
	m := b.member
	list, err := m.leases.list(ctx)
	if err != nil {
		return err
	}
	listed := map[string]bool{}
	b.current = nil
	for i := range list.Items {
		listed[list.Items[i].Name] = true
		b.recordLease(ctx, &list.Items[i])
	}
	for identity := range b.observer.members {
		if !listed[m.leases.memberName(identity)] {
			b.observer.recordDeletion(identity)
		}
	}
	b.decide(ctx)

	options := m.leases.groupOptions()
	options.ResourceVersion = list.ResourceVersion
	events, err := m.config.Leases.Watch(ctx, options)
	if err != nil {
		return err
	}
	defer events.Stop()
	for {
		select {
		case event, open := <-events.ResultChan():
			if !open {
				return nil
			}
			if err := b.handleEvent(ctx, event); err != nil {
				return err
			}
			m.recordOutcome(ctx, observing, nil)
		case <-m.config.clock.after(m.config.LeaseDuration):
			return errors.New("nothing came in for a whole LeaseDuration")
		case <-ctx.Done():
			return nil
		}
	}
}

// handleEvent records an event, and calls decide if it may matter.
func (b *balancer) handleEvent(ctx context.Context, event watch.Event) error {
	lease, ok := event.Object.(*coordinationv1.Lease)
	if !ok {
		return apierrors.FromObject(event.Object)
	}
	switch isTable := lease.Name == b.member.config.Group; {
	case event.Type != watch.Deleted:
		b.recordLease(ctx, lease)
		if isTable || lease.Name == b.member.leases.memberName(b.member.config.Identity) || b.isLeaving(lease) {
			b.decide(ctx)
		}
	case isTable:
		b.current = nil
	case lease.Spec.HolderIdentity != nil:
		b.observer.recordDeletion(*lease.Spec.HolderIdentity)
	}
	return nil
}

// isLeaving reports whether a Lease is that of a leaving member, which must be given nothing more.
func (b *balancer) isLeaving(lease *coordinationv1.Lease) bool {
	if lease.Spec.HolderIdentity == nil {
		return false
	}
	o := b.observer.members[*lease.Spec.HolderIdentity]
	return o != nil && o.report.Leaving
}

// recordLease records a Lease that came in.
func (b *balancer) recordLease(ctx context.Context, lease *coordinationv1.Lease) {
	if lease.Name == b.member.config.Group {
		v, err := versionOf(lease)
		switch {
		case err != nil:
			b.logUnread(ctx, lease, tableAnnotation, err)
			b.current = nil
		case b.current == nil || v.newer(b.current):
			b.current = v
		}
		return
	}
	b.recordMemberLease(ctx, lease)
}

func (b *balancer) recordMemberLease(ctx context.Context, lease *coordinationv1.Lease) {
	text, ok := lease.Annotations[memberAnnotation]
	if !ok || lease.Spec.HolderIdentity == nil {
		return
	}
	r, err := parseReport(text)
	if err != nil && !errors.Is(err, errProtocol) {
		b.logUnread(ctx, lease, memberAnnotation, err)
	}
	b.observer.observeLease(*lease.Spec.HolderIdentity, lease, r, b.member.config.clock.now())
}

// logUnread logs that a Lease's text can't be parsed, once for each text.
func (b *balancer) logUnread(
	ctx context.Context, lease *coordinationv1.Lease, annotation string, err error,
) {
	text := lease.Annotations[annotation]
	if last, logged := b.unread[lease.Name]; logged && last == text {
		return
	}
	b.unread[lease.Name] = text
	klog.FromContext(ctx).Error(err, "Sharding: the balancer can't read an annotation",
		"group", b.member.config.Group, "lease", lease.Name, "annotation", annotation)
}

// decide writes a new table if the situation calls for one.
func (b *balancer) decide(ctx context.Context) {
	if b.current == nil {
		return
	}
	switch untouched := b.current.untouched(); {
	case !untouched:
		b.census = nil
	case b.census == nil:
		b.takeCensus(ctx)
	}
	b.deleteAbandoned(ctx)
	s, next, changes := b.nextTable()
	if !changes {
		return
	}
	if s.table.untouched() || len(s.lost()) > 0 {
		// The next table could take ranges from a member that acts, if the observation were wrong. The current
		// one was read before the Leases are read here. So if a member that seems dead renews after that, it
		// writes the table before it acts, and the write below fails.
		if err := b.rereadMembers(ctx); err != nil {
			b.member.recordOutcome(ctx, observing, err)
			return
		}
		if s, next, changes = b.nextTable(); !changes {
			return
		}
	}
	written, err := b.member.leases.write(ctx, b.current, next)
	b.member.recordOutcome(ctx, balancing, err)
	if err != nil {
		return
	}
	for _, lost := range s.lost() {
		klog.FromContext(ctx).Info("Sharding: a member is lost: its lease has run out",
			"group", b.member.config.Group, "lost", lost, "ranges", rangesOf(s.table.ownedBy(lost)))
	}
	b.current = written
	b.member.applyTable(written)
}

// nextTable returns the situation, the table that it calls for, and whether that differs from the current
// one.
func (b *balancer) nextTable() (s situation, next table, changes bool) {
	s, ready := b.situation()
	if ready {
		next, changes = s.planTable()
	}
	return s, next, changes
}

// rereadMembers reads the members' Leases again, but not the table.
func (b *balancer) rereadMembers(ctx context.Context) error {
	list, err := b.member.leases.list(ctx)
	if err != nil {
		return err
	}
	for i := range list.Items {
		b.recordMemberLease(ctx, &list.Items[i])
	}
	return nil
}

// situation returns what the balancer decides by, and whether it may decide anything yet.
func (b *balancer) situation() (s situation, ready bool) {
	config := &b.member.config
	now, current := config.clock.now(), b.current
	s = situation{
		table: current.table, live: map[string]bool{}, silent: map[string]bool{}, dead: map[string]bool{},
		counted: map[string][]piece{}, settled: true, maxLoad: config.MaxLoad,
	}
	if !config.shards(current.table.Field, current.table.Kinds) {
		return s, false
	}
	owners := map[string]bool{}
	for _, e := range current.Ranges {
		if e.Owner != "" {
			owners[e.Owner] = true
			b.observer.recordMissing(e.Owner, now)
		}
	}
	newcomers, waited, actors, untouched, unsure := 0, false, false, current.untouched(), false
	for identity, o := range b.observer.members {
		s.counted[identity] = o.report.Pieces
		switch {
		case o.unchanged >= max(config.LeaseDuration, o.duration()):
			s.dead[identity] = true
		case o.report.Table != "" && o.report.Table != current.lease.UID:
			if untouched {
				return s, false // it may act on a table from before this one was created
			}
		case o.report.Table != "" && !o.gone && !o.report.Leaving &&
			config.shards(o.report.Field, o.report.Kinds):
			s.live[identity] = true
			late := o.unchanged > 2*config.RetryPeriod
			s.silent[identity] = late || !o.renews
			unsure = unsure || !late && !o.renews
			actors = actors || owners[identity]
			if !owners[identity] {
				newcomers++
				waited = waited || now.Sub(o.first) >= config.JoinDelay
			}
		}
	}
	if untouched {
		select {
		case <-b.census.done:
			s.places = b.census.places
		default:
			return s, false
		}
	}
	s.settled = newcomers == 0 || waited
	if untouched && b.observer.reading < config.LeaseDuration {
		return s, false // members whose Leases were deleted may act on a table from before
	}
	if unsure {
		return s, false // a member may have died long ago, or renew in a moment
	}
	return s, actors || len(s.live) >= config.MinMembers || now.Sub(b.began) >= config.MinMembersWait
}

// deleteAbandoned deletes the Leases of members that are long gone.
func (b *balancer) deleteAbandoned(ctx context.Context) {
	for identity, o := range b.observer.members {
		lasts := max(b.member.config.LeaseDuration, o.duration())
		if o.unchanged < abandoned*lasts || len(b.current.ownedBy(identity)) > 0 {
			continue
		}
		if !o.gone {
			if err := b.member.leases.remove(ctx, identity, o.lease); err != nil {
				b.member.recordOutcome(ctx, tidying, err)
				continue
			}
		}
		delete(b.observer.members, identity)
	}
}

// shards reports whether a member or a table shards by the same field, and the same kinds, as this member.
func (c *Config) shards(field shard.Field, kinds []string) bool {
	return field == c.Field && slices.Equal(kinds, c.Kinds)
}
