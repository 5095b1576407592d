package sharding

import (
	"context"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coordination "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/klog/v2"
)

// byLeaderElection calls lead whenever the member is elected by client-go's leader election, one call at a
// time.
func (c *Config) byLeaderElection(ctx context.Context, lead func(context.Context)) {
	elected := make(chan context.Context)
	var leads sync.WaitGroup
	defer leads.Wait()
	leads.Go(func() {
		for {
			select {
			case leading := <-elected:
				lead(leading)
			case <-ctx.Done():
				return
			}
		}
	})
	callbacks := leaderelection.LeaderCallbacks{
		OnStartedLeading: func(leading context.Context) {
			select {
			case elected <- leading:
			case <-leading.Done():
			}
		},
		OnStoppedLeading: func() {},
	}
	for ctx.Err() == nil {
		elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
			Lock: &resourcelock.LeaseLock{
				LeaseMeta:  metav1.ObjectMeta{Name: c.Group + balancerSuffix},
				Client:     oneNamespace{c.Leases},
				LockConfig: resourcelock.ResourceLockConfig{Identity: c.Identity},
			},
			// Shorter than the members' Leases, because candidates look rarely, and two balancers do no harm.
			// Rounded up, because the elector cuts off parts of a second.
			LeaseDuration:   (c.RenewDeadline*3/4 + time.Second - 1).Truncate(time.Second),
			RenewDeadline:   max(c.RenewDeadline/2, c.RetryPeriod*5/4),
			RetryPeriod:     c.RetryPeriod,
			ReleaseOnCancel: true,
			Callbacks:       callbacks,
		})
		if err != nil {
			klog.FromContext(ctx).Error(err, "Sharding: the member isn't elected", "group", c.Group)
			<-ctx.Done()
			return
		}
		elector.Run(ctx)
	}
}

// oneNamespace is the client of one namespace's Leases, as a client of all namespaces, which client-go wants.
type oneNamespace struct{ leases coordination.LeaseInterface }

func (o oneNamespace) Leases(string) coordination.LeaseInterface { return o.leases }

// elections runs the balancer whenever the member is elected. A member that doesn't take part isn't a
// candidate: it would keep others from balancing.
func (m *Member) elections(ctx context.Context) {
	takesPart := func() bool { return m.refused == nil }
	for m.await(ctx, nil, takesPart) {
		candidate, stop := context.WithCancel(ctx)
		var watching sync.WaitGroup
		watching.Go(func() {
			m.await(candidate, nil, func() bool { return !takesPart() })
			stop()
		})
		m.config.elect(candidate, m.lead)
		stop()
		watching.Wait()
	}
}

func (m *Member) lead(ctx context.Context) {
	m.mu.Lock()
	m.leading = ctx
	m.signal()
	m.mu.Unlock()
	m.balance(ctx)
}

// Leader calls f whenever the member is elected as the balancer, for work that only one member should do. The
// context of f ends when the member isn't elected any more. The next one may be elected a little earlier: as
// with any leader election, both may act for a moment. Leader returns when ctx and f have ended.
func (m *Member) Leader(ctx context.Context, f func(context.Context)) {
	for {
		var leading context.Context
		elected := func() bool {
			leading = m.leading
			return leading != nil && leading.Err() == nil
		}
		if !m.await(ctx, nil, elected) {
			return
		}
		run, cancel := context.WithCancelCause(ctx)
		stop := context.AfterFunc(leading, func() { cancel(context.Cause(leading)) })
		f(run)
		stop()
		cancel(nil)
		select {
		case <-leading.Done():
		case <-ctx.Done():
		}
	}
}
