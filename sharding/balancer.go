package sharding

import (
	"context"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	coordination "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/klog/v2"
)

// balancer gives ranges to members. There should be one at a time; several do no harm.
type balancer struct {
	member   *Member
	began    time.Time
	observer *observer
	// table is the last one that came in, and lease the Lease that it is on. lease is nil if there is none.
	table table
	lease *coordinationv1.Lease
}

// byLeaderElection calls lead whenever the member is elected by client-go's leader election.
func (c Config) byLeaderElection(ctx context.Context, lead func(context.Context)) {
	for ctx.Err() == nil {
		elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
			Lock: &resourcelock.LeaseLock{
				LeaseMeta:  metav1.ObjectMeta{Name: c.Group + "-balancer"},
				Client:     oneNamespace{c.Leases},
				LockConfig: resourcelock.ResourceLockConfig{Identity: c.Identity},
			},
			LeaseDuration:   c.LeaseDuration,
			RenewDeadline:   c.RenewDeadline,
			RetryPeriod:     c.RetryPeriod,
			ReleaseOnCancel: true,
			Callbacks:       leaderelection.LeaderCallbacks{OnStartedLeading: lead, OnStoppedLeading: func() {}},
		})
		if err != nil {
			klog.FromContext(ctx).Error(err, "Sharding: nobody is elected as balancer", "group", c.Group)
			return
		}
		elector.Run(ctx)
	}
}

// oneNamespace is the client of one namespace's Leases, where client-go wants that of all.
type oneNamespace struct{ leases coordination.LeaseInterface }

func (o oneNamespace) Leases(string) coordination.LeaseInterface { return o.leases }

// balance runs a balancer until ctx ends.
func (m *Member) balance(ctx context.Context) {
	b := &balancer{
		member: m, began: m.config.clock.now(),
		observer: newObserver(m.config.Identity, 2*m.config.RetryPeriod),
	}
	for {
		if err := b.watch(ctx); err != nil {
			m.fail(ctx, "watch the members", err)
		}
		if !m.pause(ctx, m.config.RetryPeriod) {
			return
		}
	}
}

// watch follows the Leases of the group until the watch ends.
func (b *balancer) watch(ctx context.Context) error {
	m := b.member
	options := metav1.ListOptions{LabelSelector: groupLabel + "=" + m.config.Group}
	list, err := m.config.Leases.List(ctx, options)
	if err != nil {
		return err
	}
	listed := map[string]bool{}
	b.lease = nil
	for i := range list.Items {
		listed[list.Items[i].Name] = true
		b.see(&list.Items[i])
	}
	for identity := range b.observer.members {
		if !listed[m.leases.memberName(identity)] {
			b.observer.leave(identity)
		}
	}
	b.decide(ctx)

	options.ResourceVersion = list.ResourceVersion
	events, err := m.config.Leases.Watch(ctx, options)
	if err != nil {
		return err
	}
	defer events.Stop()
	for event := range events.ResultChan() {
		lease, ok := event.Object.(*coordinationv1.Lease)
		switch {
		case !ok:
			return apierrors.FromObject(event.Object)
		case event.Type != watch.Deleted:
			b.see(lease)
		case lease.Name == m.config.Group:
			b.lease = nil
		case lease.Spec.HolderIdentity != nil:
			b.observer.leave(*lease.Spec.HolderIdentity)
		}
		b.decide(ctx)
	}
	return nil
}

// see notes a Lease that came in.
func (b *balancer) see(lease *coordinationv1.Lease) {
	if lease.Name == b.member.config.Group {
		t, err := tableOf(lease)
		if err != nil {
			klog.ErrorS(err, "Sharding: no range is given", "group", b.member.config.Group)
			b.lease = nil
			return
		}
		b.table, b.lease = t, lease
		return
	}
	if r, ok := reportOf(lease); ok && lease.Spec.HolderIdentity != nil {
		b.observer.see(*lease.Spec.HolderIdentity, lease, r, b.member.config.clock.now())
	}
}

// decide writes the table that the situation asks for, if any.
func (b *balancer) decide(ctx context.Context) {
	if b.lease == nil {
		return
	}
	s, ready := b.situation()
	if !ready {
		return
	}
	if _, changes := s.plan(); !changes {
		return
	}
	// The table was read before what follows. So if a member that seems dead renews after that, it writes the table before
	// it acts, and the write below fails.
	for owner := range s.dead {
		if !b.unchanged(ctx, owner) {
			return
		}
	}
	next, _ := s.plan()
	lease, err := b.member.leases.write(ctx, b.lease, next)
	if err != nil {
		b.member.fail(ctx, "write the table", err)
		return
	}
	b.table, b.lease = next, lease
	b.member.take(next)
}

// situation returns what is to be decided by, and whether anything may be decided.
func (b *balancer) situation() (situation, bool) {
	config := &b.member.config
	now := config.clock.now()
	s := situation{
		table: b.table, live: map[string]bool{}, dead: map[string]bool{}, counted: map[string]map[place]int{},
		settled: true, maxLoad: config.MaxLoad,
	}
	for _, e := range b.table.Ranges {
		if e.Owner != "" {
			b.observer.miss(e.Owner, now)
		}
	}
	for identity, o := range b.observer.members {
		s.counted[identity] = o.report.Objects
		switch {
		case o.unchanged >= config.LeaseDuration:
			s.dead[identity] = true
		case 0 < o.report.Seen && o.report.Seen < b.table.Since:
			return s, false // it may act on a table from before this one was created
		case !o.gone && sameKinds(o.report.Field, config.Field, o.report.Kinds, config.Kinds):
			s.live[identity] = true
			s.settled = s.settled && now.Sub(o.first) >= config.Joins
		}
	}
	for identity := range s.dead {
		if len(b.table.of(identity)) == 0 {
			delete(s.dead, identity)
		}
	}
	return s, len(s.live) >= config.MinMembers || now.Sub(b.began) >= config.MinMembersWait
}

// unchanged reads an owner's Lease once more, and reports whether it is the one that was observed.
func (b *balancer) unchanged(ctx context.Context, identity string) bool {
	lease, err := b.member.leases.ofMember(ctx, identity)
	o := b.observer.members[identity]
	if apierrors.IsNotFound(err) {
		return true // it hasn't changed: the member would have created it
	}
	if err != nil || o.lease == nil || lease.ResourceVersion != o.lease.ResourceVersion {
		if err == nil {
			b.see(lease)
		}
		return false
	}
	return true
}
