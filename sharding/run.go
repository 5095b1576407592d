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
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/klog/v2"
)

// Run takes part in the group until ctx ends, and then leaves it: it waits until no work is left, marks the member's
// ranges free and deletes its Lease. It returns an error if work didn't end in time; the ranges are then given to others
// when the Lease has run out. Call it once.
func (m *Member) Run(ctx context.Context) error {
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	var loops sync.WaitGroup
	for _, loop := range []func(context.Context){m.renewals, m.confirmations, m.follow, m.handOvers, m.lapses, m.elections} {
		loops.Go(func() { loop(running) })
	}
	<-ctx.Done()
	err := m.leave(running)
	stop()
	loops.Wait()
	m.mu.Lock()
	defer m.mu.Unlock()
	m.until = time.Time{}
	m.settle()
	return err
}

// pause waits, and reports whether ctx is still running.
func (m *Member) pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-m.config.clock.after(d):
		return true
	case <-ctx.Done():
		return false
	}
}

// await waits until a condition holds, which is computed under the lock, and reports whether ctx is still running.
func (m *Member) await(ctx context.Context, holds func() bool) bool {
	for {
		m.mu.Lock()
		done, changed := holds(), m.changed
		m.mu.Unlock()
		if done {
			return true
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return false
		}
	}
}

// fail logs an error of a loop that tries again.
func (m *Member) fail(ctx context.Context, what string, err error) {
	if ctx.Err() == nil {
		klog.FromContext(ctx).V(2).Info("Sharding: will try again", "group", m.config.Group,
			"member", m.config.Identity, "action", what, "err", err)
	}
}

func (m *Member) renewals(ctx context.Context) {
	var lease *coordinationv1.Lease
	for {
		next, err := m.renew(ctx, lease)
		if err != nil {
			m.fail(ctx, "renew the lease", err)
		}
		lease = next
		if !m.untilRenewal(ctx) {
			return
		}
	}
}

// untilRenewal waits until the next renewal is due: after RetryPeriod, or at once when there is a table that the Lease must
// say the member has seen. It reports whether ctx is still running.
func (m *Member) untilRenewal(ctx context.Context) bool {
	waiting, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		if m.pause(waiting, m.config.RetryPeriod) {
			cancel()
		}
	}()
	m.await(waiting, func() bool { return m.known && m.reported < m.current.Since })
	return ctx.Err() == nil
}

// elections balances the group whenever the member is elected to.
func (m *Member) elections(ctx context.Context) { m.config.elect(ctx, m.balance) }

// confirmations confirms the table whenever the Lease begins to hold.
func (m *Member) confirmations(ctx context.Context) {
	for m.await(ctx, func() bool { return !m.confirmed && m.config.clock.now().Before(m.until) }) {
		if err := m.confirm(ctx); err != nil {
			m.fail(ctx, "confirm the table", err)
			if !apierrors.IsConflict(err) && !apierrors.IsAlreadyExists(err) && !m.pause(ctx, m.config.RetryPeriod) {
				return
			}
		}
	}
}

// lapses ends work when the Lease ends.
func (m *Member) lapses(ctx context.Context) {
	for {
		m.mu.Lock()
		left, changed := m.until.Sub(m.config.clock.now()), m.changed
		m.mu.Unlock()
		var ends <-chan time.Time // never, while the Lease doesn't hold anyway
		if left > 0 {
			ends = m.config.clock.after(left)
		}
		select {
		case <-ends:
			m.lapse()
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}

// follow takes note of every table that is written.
func (m *Member) follow(ctx context.Context) {
	for {
		if err := m.watchTable(ctx); err != nil {
			m.fail(ctx, "watch the table", err)
		}
		if !m.pause(ctx, m.config.RetryPeriod) {
			return
		}
	}
}

func (m *Member) watchTable(ctx context.Context) error {
	t, lease, err := m.leases.read(ctx)
	if apierrors.IsNotFound(err) {
		m.lost()
		return m.create(ctx)
	}
	if err != nil {
		return err
	}
	m.take(t)
	events, err := m.config.Leases.Watch(ctx, metav1.ListOptions{
		FieldSelector:   fields.OneTermEqualSelector("metadata.name", m.config.Group).String(),
		ResourceVersion: lease.ResourceVersion,
	})
	if err != nil {
		return err
	}
	defer events.Stop()
	for event := range events.ResultChan() {
		lease, ok := event.Object.(*coordinationv1.Lease)
		switch {
		case !ok:
			return apierrors.FromObject(event.Object)
		case event.Type == watch.Deleted:
			m.lost()
			return nil
		}
		t, err := tableOf(lease)
		if err != nil {
			return err
		}
		m.take(t)
	}
	return nil
}

// asked returns an entry of the member's that it is asked to give away. It needs the lock.
func (m *Member) asked() (e entry, span Range, ok bool) {
	if m.known {
		for i, e := range m.current.Ranges {
			if e.Owner == m.config.Identity && e.To != "" {
				return e, m.current.span(i), true
			}
		}
	}
	return entry{}, Range{}, false
}

// handOvers gives away what the member is asked to, one range after the other.
func (m *Member) handOvers(ctx context.Context) {
	for {
		var e entry
		var whole Range
		if !m.await(ctx, func() (ok bool) { e, whole, ok = m.asked(); return ok }) {
			return
		}
		if err := m.handOver(ctx, whole, e); err != nil {
			m.fail(ctx, "hand over "+whole.String(), err)
			if !m.pause(ctx, m.config.RetryPeriod) {
				return
			}
		}
	}
}

// handOver gives a range, or a part of it, to the member that the entry names, once the work on it has ended.
func (m *Member) handOver(ctx context.Context, whole Range, e entry) error {
	part := whole
	if e.Part > 0 && whole.First < whole.Last {
		part = Range{whole.First, whole.First + (whole.Last-whole.First)/2}
		if m.config.Cut != nil {
			part = m.config.Cut(whole, e.Part)
		}
	}
	if err := m.drain(ctx, part); err != nil {
		return err
	}
	objects := m.load(part)
	err := m.rewrite(ctx, func(t table) (table, error) { return t.give(m.config.Identity, part, e.To, objects) })
	if ctx.Err() == nil {
		m.resume(part)
	}
	return err
}

func (m *Member) load(r Range) int {
	if m.config.Load == nil {
		return 0
	}
	return m.config.Load(r)
}

// drain lets no work begin on a range, and returns when what was going on has ended. After DrainGrace the contexts of
// that work end. The caller must call resume.
func (m *Member) drain(ctx context.Context, part Range) error {
	m.mu.Lock()
	m.draining = append(m.draining, part)
	m.mu.Unlock()
	idle := func() bool { return m.running(part) == 0 }
	grace, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		if m.pause(grace, m.config.DrainGrace) {
			m.mu.Lock()
			defer m.mu.Unlock()
			for r := range m.runs {
				if part.Contains(r.hash) {
					r.cancel(errors.New("the range is given away"))
				}
			}
		}
	}()
	if !m.await(ctx, idle) {
		m.resume(part)
		return context.Cause(ctx)
	}
	return nil
}

// running counts the work in a range. It needs the lock.
func (m *Member) running(part Range) (count int) {
	for r := range m.runs {
		if part.Contains(r.hash) {
			count++
		}
	}
	return count
}

// resume ends a drain.
func (m *Member) resume(part Range) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if i := slices.Index(m.draining, part); i >= 0 {
		m.draining = slices.Delete(m.draining, i, i+1)
	}
	m.signal()
}

// rewrite changes the table. It tries until it knows that a change was written, or that it can't be: a request without an
// answer may still be carried out, unless another write comes first. So it returns an error only if there is no table, if
// change refuses, or if ctx ends. In the last case nobody knows what was written.
func (m *Member) rewrite(ctx context.Context, change func(table) (table, error)) error {
	for {
		t, lease, err := m.leases.read(ctx)
		if apierrors.IsNotFound(err) {
			m.lost()
			return err
		}
		if err == nil {
			m.take(t)
			if t, err = change(t); err != nil {
				return err
			}
			if _, err = m.leases.write(ctx, lease, t); err == nil {
				m.take(t)
				return nil
			}
		}
		if !apierrors.IsConflict(err) {
			m.fail(ctx, "write the table", err)
			if !m.pause(ctx, m.config.RetryPeriod) {
				return context.Cause(ctx)
			}
		}
	}
}

// leave gives up all ranges and the Lease.
func (m *Member) leave(ctx context.Context) error {
	all := Range{0, lastPlace}
	limited, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		if m.pause(limited, 2*m.config.DrainGrace) {
			cancel()
		}
	}()
	if m.drain(limited, all) != nil {
		m.mu.Lock()
		defer m.mu.Unlock()
		return fmt.Errorf("sharding: %d pieces of work didn't end; the ranges of %s go to others when its lease has run out",
			m.running(all), m.config.Identity)
	}
	err := m.rewrite(limited, func(t table) (table, error) {
		for {
			owned := t.of(m.config.Identity)
			if len(owned) == 0 {
				return t, nil
			}
			var err error
			if t, err = t.give(m.config.Identity, owned[0].Range, "", m.load(owned[0].Range)); err != nil {
				return t, err
			}
		}
	})
	if err != nil {
		return fmt.Errorf("sharding: %s couldn't mark its ranges free: %w", m.config.Identity, err)
	}
	err = m.config.Leases.Delete(limited, m.leases.memberName(m.config.Identity), metav1.DeleteOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}
