package sharding

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/klog/v2"
)

// The actions that a member repeats if they fail.
const (
	renewing   = "renew the lease"
	confirming = "confirm the table"
	watching   = "watch the table"
	writing    = "write the table"
	giving     = "hand over a range"
	observing  = "watch the members"
	balancing  = "write the table as the balancer"
	tidying    = "delete an abandoned lease"
)

// trouble is an action that fails now.
type trouble struct {
	err         error
	since, last time.Time
	// logged is set once it was logged as an error.
	logged bool
}

// recordOutcome records the outcome of an action that is repeated if it fails. An action that has failed for
// RenewDeadline, or for lack of permissions, is logged as an error, once. Conflicts don't count: another
// member was quicker.
func (m *Member) recordOutcome(ctx context.Context, what string, err error) {
	if ctx.Err() != nil || apierrors.IsConflict(err) {
		return
	}
	forbidden := apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err)
	since, serious := m.updateTrouble(what, err, forbidden)
	log := klog.FromContext(ctx).WithValues("group", m.config.Group, "member", m.config.Identity, "action", what)
	switch {
	case err == nil:
	case serious && forbidden:
		log.Error(err, "Sharding: the member may not use the leases, see role.yaml")
	case serious:
		log.Error(err, "Sharding: this has failed for a while", "since", since)
	default:
		log.V(2).Info("Sharding: will try again", "err", err)
	}
}

// updateTrouble records the outcome of an action. It returns since when the action has failed, and whether
// that must be logged now: once per trouble, at its first error if atOnce, else when it has lasted for
// RenewDeadline.
func (m *Member) updateTrouble(what string, err error, atOnce bool) (since time.Time, serious bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err == nil {
		delete(m.troubles, what)
		return since, false
	}
	t, now := m.troubles[what], m.config.clock.now()
	if t == nil || m.isOver(t) {
		t = &trouble{since: now}
		m.troubles[what] = t
	}
	t.err, t.last = err, now
	serious = !t.logged && (atOnce || now.Sub(t.since) >= m.config.RenewDeadline)
	t.logged = t.logged || serious
	return t.since, serious
}

// isOver reports whether a failed action isn't tried any more: the next attempt would have ended by now. The
// caller holds mu.
func (m *Member) isOver(t *trouble) bool {
	return m.config.clock.now().Sub(t.last) > m.config.LeaseDuration+m.config.RenewDeadline
}

// withLast returns err, and wraps the last error of an action too, if that fails now. The caller holds mu.
func (m *Member) withLast(what string, err error) error {
	t := m.troubles[what]
	if t == nil || m.isOver(t) {
		return err
	}
	return fmt.Errorf("%w: %w", err, t.err)
}
