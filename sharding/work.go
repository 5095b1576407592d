package sharding

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/kubewright/kubewright/runtime/shard"
)

// ErrNotOwned is the error of work, or of a write, on a hash that the member doesn't own or may no longer act
// on. If the member must stop work, the cause of the context's end is ErrNotOwned or wraps it.
var ErrNotOwned = errors.New("not owned by this member")

// run is a piece of work.
type run struct {
	member *Member
	value  string
	hash   uint64
	cancel context.CancelCauseFunc
	// hangs is set if the work still runs DrainGrace after its context has ended. The member's lock guards it.
	hangs bool
}

// runKey is the key of a run in the context of its work.
type runKey struct{}

// Do calls f if a namespace, or a UID, belongs to the member, and returns ErrNotOwned if not. While f runs,
// the member doesn't hand it over. The context of f ends when the member must stop.
//
// Do waits while the table assigns it to the member but work may not begin: its objects aren't in the
// informers yet, the member's Lease doesn't hold, or its range is about to move and waits for the work there
// to end. So don't call Do in f: it could wait for f itself. If ctx ends first, Do returns its cause.
//
// Work that had to stop because the Lease ran out may still be the member's. So add the key to the queue
// again after any error: a queue of NewQueue, with Accepts, drops it if it is another member's by then.
func (m *Member) Do(ctx context.Context, value string, f func(context.Context, Owned) error) error {
	r := &run{member: m, value: value, hash: shard.Hash(value)}
	working, cancel := context.WithCancelCause(context.WithValue(ctx, runKey{}, r))
	r.cancel = cancel
	owned, err := m.beginWork(ctx, r)
	if err != nil {
		cancel(nil)
		return err
	}
	defer m.endWork(r)
	return f(working, owned)
}

// OwnedFrom returns the range of the work, and its token, if ctx is the context of f in [Member.Do], f still
// runs, and its member may act on the range now. Send the token with writes to other systems: of two writes
// to one object, the one with the lower token is older.
func OwnedFrom(ctx context.Context) (Owned, bool) {
	r, ok := ctx.Value(runKey{}).(*run)
	if !ok {
		return Owned{}, false
	}
	return r.owned()
}

func (r *run) owned() (Owned, bool) {
	m := r.member
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, runs := m.runs[r]; !runs {
		return Owned{}, false
	}
	return m.owns(r.hash)
}

// beginWork waits until work may begin, and adds it to the running work.
func (m *Member) beginWork(ctx context.Context, r *run) (Owned, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.waiting++
	defer func() { m.waiting-- }()
	for {
		switch {
		case ctx.Err() != nil:
			return Owned{}, context.Cause(ctx)
		case !m.isAssigned(r.hash):
			return Owned{}, ErrNotOwned
		}
		if !m.allows(r.hash) {
			m.waitForChange(ctx)
			continue
		}
		losses := m.caches.losses
		switch err := m.awaitCached(ctx, r.hash); {
		case errors.Is(err, errChanged):
			continue
		case err != nil:
			return Owned{}, err
		}
		if owned, ok := m.owns(r.hash); ok && m.allows(r.hash) && m.caches.losses == losses {
			m.runs[r] = struct{}{}
			return owned, nil
		}
	}
}

// allows reports whether work on a hash may begin once its objects are in the caches. The caller holds mu.
func (m *Member) allows(hash uint64) bool {
	_, ok := m.owns(hash)
	drains := slices.ContainsFunc(m.draining, func(r shard.Range) bool { return r.Contains(hash) })
	return ok && !drains && (len(m.caches.parts) == 0 || m.caches.ready.Contains(hash))
}

// waitForChange waits for the next change. The caller holds mu, which it releases meanwhile.
func (m *Member) waitForChange(ctx context.Context) {
	changed := m.changed
	m.mu.Unlock()
	defer m.mu.Lock()
	select {
	case <-changed:
	case <-ctx.Done():
	}
}

// awaitCached waits until the objects with a hash are in the informers. If something changes before that, it
// returns errChanged. The caller holds mu, which it releases meanwhile.
func (m *Member) awaitCached(ctx context.Context, hash uint64) error {
	changed := m.changed
	m.mu.Unlock()
	defer m.mu.Lock()
	one := shard.Range{First: hash, Last: hash}
	if m.caches.waitFor(atOnce, one) == nil {
		return nil
	}
	return callUntilChanged(ctx, changed, func(ctx context.Context) error { return m.caches.waitFor(ctx, one) })
}

// callUntilChanged calls f with a context that ends, with errChanged as the cause, when changed is closed.
func callUntilChanged(ctx context.Context, changed <-chan struct{}, f func(context.Context) error) error {
	waiting, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	go func() {
		select {
		case <-changed:
			stop(errChanged)
		case <-waiting.Done():
		}
	}()
	err := f(waiting)
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

var errChanged = errors.New("the member has changed")

// atOnce is a context that has ended.
var atOnce = func() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}()

// endWork records that work has ended.
func (m *Member) endWork(r *run) {
	r.cancel(nil)
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.runs, r)
	if len(m.draining) > 0 {
		m.signal()
	}
}

// drain keeps work from beginning in a range, and returns when the work that runs there has ended. After
// DrainGrace the contexts of that work end. If drain returns nil, work may begin there again after resume.
func (m *Member) drain(ctx context.Context, part shard.Range) error {
	m.mu.Lock()
	m.draining = append(m.draining, part)
	m.mu.Unlock()
	grace := m.config.clock.after(m.config.DrainGrace)
	idle := func() bool { return len(m.running(part)) == 0 }
	if !m.await(ctx, grace, idle) {
		m.resume(part)
		return context.Cause(ctx)
	}
	m.mu.Lock()
	for r := range m.runs {
		if part.Contains(r.hash) {
			r.cancel(fmt.Errorf("the range is to move: %w", ErrNotOwned))
		}
	}
	m.mu.Unlock()
	if m.await(ctx, m.config.clock.after(m.config.DrainGrace), idle) {
		m.markHanging(part)
	}
	if !m.await(ctx, nil, idle) {
		m.resume(part)
		return context.Cause(ctx)
	}
	return nil
}

// markHanging marks and logs the work in a range that hangs, if any does.
func (m *Member) markHanging(part shard.Range) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for r := range m.runs {
		r.hangs = r.hangs || part.Contains(r.hash)
	}
	if work := m.running(part); len(work) > 0 {
		m.log.Error(nil, "Sharding: work goes on though its context has ended, and keeps a range from moving",
			"group", m.config.Group, "member", m.config.Identity, "range", part, "work", work)
	}
}

// running returns the namespaces or UIDs of the work that runs in a range. The caller holds mu.
func (m *Member) running(part shard.Range) (values []string) {
	for r := range m.runs {
		if part.Contains(r.hash) {
			values = append(values, r.value)
		}
	}
	return values
}

// resume lets work begin in a drained range again.
func (m *Member) resume(part shard.Range) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if i := slices.Index(m.draining, part); i >= 0 {
		m.draining = slices.Delete(m.draining, i, i+1)
	}
	m.signal()
}
