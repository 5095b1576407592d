package sharding

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/klog/v2"
)

// Run takes part in the group until ctx ends, and then leaves it: it waits for running work, marks the
// member's ranges free and deletes its Lease. It returns an error if that isn't done within 2 DrainGrace,
// because work doesn't end or the server doesn't answer; others then get the ranges when the Lease has run
// out. A member runs once: a second call returns an error.
func (m *Member) Run(ctx context.Context) error {
	m.mu.Lock()
	again := m.ran
	if !again {
		m.ran, m.log = true, klog.FromContext(ctx)
	}
	m.mu.Unlock()
	if again {
		return errors.New("sharding: Run was called before; make a new member")
	}
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	renewing, endRenewals := context.WithCancel(running)
	var loops, renewals sync.WaitGroup
	renewals.Go(func() { m.renewals(renewing) })
	for _, loop := range []func(context.Context){
		m.confirmations, m.followTable, m.handOvers, m.lapses, m.elections, m.updateInformers, m.notifications,
	} {
		loops.Go(func() { loop(running) })
	}
	<-ctx.Done()
	err := m.leaveGroup(running, func() { endRenewals(); renewals.Wait() })
	stop()
	loops.Wait()
	renewals.Wait()
	m.mu.Lock()
	m.until, m.left = time.Time{}, true
	m.updateOwned("it has left")
	m.mu.Unlock()
	m.notifyChanged()
	return err
}

// pause waits, and reports whether ctx is still running.
func (m *Member) pause(ctx context.Context, d time.Duration) bool {
	return m.await(ctx, m.config.clock.after(d), func() bool { return false })
}

// await waits until holds, which it calls with mu held, returns true, or until the alarm, if there is one. It
// reports whether ctx is still running.
func (m *Member) await(ctx context.Context, alarm <-chan time.Time, holds func() bool) bool {
	for {
		m.mu.Lock()
		done, changed := holds(), m.changed
		m.mu.Unlock()
		if done {
			return ctx.Err() == nil
		}
		select {
		case <-changed:
		case <-alarm:
			return ctx.Err() == nil
		case <-ctx.Done():
			return false
		}
	}
}

// renewals renews the Lease every RetryPeriod, and at once if there is something urgent to report.
func (m *Member) renewals(ctx context.Context) {
	var lease *coordinationv1.Lease
	for {
		next, err := m.renew(ctx, lease)
		m.recordOutcome(ctx, renewing, err)
		lease = next
		due := m.config.clock.after(m.config.RetryPeriod)
		if !m.await(ctx, due, func() bool { return err == nil && m.urgent }) {
			return
		}
	}
}

// lapses ends work when the Lease ends.
func (m *Member) lapses(ctx context.Context) {
	for {
		m.mu.Lock()
		left, changed := m.until.Sub(m.config.clock.now()), m.changed
		m.mu.Unlock()
		var ends <-chan time.Time // nil if the Lease doesn't hold anyway
		if left > 0 {
			ends = m.config.clock.after(left)
		}
		select {
		case <-ends:
			m.mu.Lock()
			m.updateOwned("its lease has run out")
			m.mu.Unlock()
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}

// confirmations confirms the table whenever the Lease begins to hold, once there is one.
func (m *Member) confirmations(ctx context.Context) {
	for m.await(ctx, nil, func() bool { return !m.confirmed && m.holds() && m.current != nil }) {
		err := m.confirm(ctx)
		m.recordOutcome(ctx, confirming, err)
		if err != nil && !m.backOff(ctx, err) {
			return
		}
	}
}

// backOff waits before the table is written again: after a conflict a short random time, so that others can
// go first, else RetryPeriod.
func (m *Member) backOff(ctx context.Context, err error) bool {
	wait := m.config.RetryPeriod
	if apierrors.IsConflict(err) {
		wait = rand.N(wait / 8)
	}
	return m.pause(ctx, wait)
}

// confirm makes sure that no balancer can take ranges any more by a decision that it made before the member's
// Lease began to hold. The write of such a decision carries the resourceVersion of a table that was read
// before, so it fails once confirm has written the table anew. A table that doesn't name the member needn't
// be written.
func (m *Member) confirm(ctx context.Context) error {
	m.mu.Lock()
	hold := m.hold
	m.mu.Unlock()
	v, err := m.leases.read(ctx)
	if err != nil {
		return err
	}
	m.applyTable(v)
	if anew, named := v.withNewTokens(m.config.Identity); named > 0 {
		if v, err = m.leases.write(ctx, v, anew); err != nil {
			return err
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.hold == hold {
		m.confirmed = true
	}
	m.applyTableLocked(v)
	m.updateOwned("the table is confirmed")
	return nil
}

// followTable watches the table.
func (m *Member) followTable(ctx context.Context) {
	for {
		err := m.watchTable(ctx)
		m.recordOutcome(ctx, watching, err)
		if errors.Is(err, errProtocol) {
			m.mu.Lock()
			m.setRefused(fmt.Errorf("sharding: %w: this member doesn't take part", err))
			m.updateOwned("the table is of another protocol")
			m.mu.Unlock()
		}
		if !m.pause(ctx, m.config.RetryPeriod) {
			return
		}
	}
}

func (m *Member) watchTable(ctx context.Context) error {
	v, since, err := m.leases.latest(ctx)
	if apierrors.IsNotFound(err) {
		m.clearTable()
		created := m.leases.create(ctx, newTable(m.config.Field, m.config.Kinds))
		if created != nil && !apierrors.IsAlreadyExists(created) {
			return created
		}
		v, since, err = m.leases.latest(ctx)
	}
	if err != nil {
		return err
	}
	m.applyTable(v)
	options := m.leases.tableOptions()
	options.ResourceVersion = since
	events, err := m.config.Leases.Watch(ctx, options)
	if err != nil {
		return err
	}
	defer events.Stop()
	m.recordOutcome(ctx, watching, nil)
	for event := range events.ResultChan() {
		lease, ok := event.Object.(*coordinationv1.Lease)
		switch {
		case !ok:
			return apierrors.FromObject(event.Object)
		case event.Type == watch.Deleted:
			m.clearTable()
			return errors.New("the table was deleted")
		}
		if v, err = versionOf(lease); err != nil {
			return err
		}
		m.applyTable(v)
	}
	return nil
}

// rewrite changes the table. It retries until it knows that a change was written or can't be written any
// more, because a write that got no answer may still be carried out until another write succeeds. It returns
// an error only if there is no table, if the table is of another protocol and nothing was written yet, if
// change returns an error, or if ctx ends. In the last case the outcome is unknown.
func (m *Member) rewrite(ctx context.Context, change func(table) (table, error)) error {
	for wrote := false; ; {
		v, err := m.leases.read(ctx)
		if apierrors.IsNotFound(err) || !wrote && errors.Is(err, errProtocol) {
			return err
		}
		if err == nil {
			m.applyTable(v)
			next, refused := change(v.table)
			if refused != nil {
				return refused
			}
			wrote = true
			if v, err = m.leases.write(ctx, v, next); err == nil {
				m.applyTable(v)
				m.recordOutcome(ctx, writing, nil)
				return nil
			}
		}
		m.recordOutcome(ctx, writing, err)
		if !m.backOff(ctx, err) {
			return context.Cause(ctx)
		}
	}
}

// leaveGroup gives up all ranges and the Lease. First the Lease reports that the member leaves, so that it is
// given nothing more. Renewals must end before the Lease is deleted, because they would create it again.
func (m *Member) leaveGroup(ctx context.Context, endRenewals func()) error {
	m.mu.Lock()
	m.leaving, m.urgent = true, true
	m.signal()
	m.mu.Unlock()
	limited, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		if m.pause(limited, 2*m.config.DrainGrace) {
			cancel(fmt.Errorf("not within %s, twice DrainGrace", 2*m.config.DrainGrace))
		}
	}()
	if m.drain(limited, everything) != nil {
		m.mu.Lock()
		defer m.mu.Unlock()
		return fmt.Errorf(
			"sharding: work on %q didn't end; the ranges of %s go to others when its lease has run out",
			m.running(everything), m.config.Identity)
	}
	if !m.await(limited, nil, func() bool { return m.reportedLeaving }) {
		m.mu.Lock()
		defer m.mu.Unlock()
		return m.withLast(renewing, fmt.Errorf(
			"sharding: the ranges of %s go to others when its lease has run out, which it couldn't renew",
			m.config.Identity))
	}
	err := m.rewrite(limited, func(t table) (table, error) {
		owned := t.ownedBy(m.config.Identity)
		if len(owned) == 0 {
			return t, errNothingLeft
		}
		var counted []piece
		if t.size() < maxTable/2 {
			counted = divideIntoPieces(owned, m.config.Hashes)
		}
		return t.withFreed(m.config.Identity, counted), nil
	})
	if err != nil && !errors.Is(err, errNothingLeft) && !apierrors.IsNotFound(err) &&
		!errors.Is(err, errProtocol) {
		m.mu.Lock()
		defer m.mu.Unlock()
		return m.withLast(writing,
			fmt.Errorf("sharding: %s couldn't mark its ranges free: %w", m.config.Identity, err))
	}
	endRenewals()
	return m.leases.remove(limited, m.config.Identity, nil)
}

var errNothingLeft = errors.New("nothing is left to give")
