package sharding

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/klog/v2"
)

// What a member tries again and again.
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

// trouble is what fails now.
type trouble struct {
	err         error
	since, last time.Time
	// told says that it was logged as an error.
	told bool
}

// tried notes how something ended that is tried again if it fails. Once it has failed for RenewDeadline, or
// if the member lacks permissions, it is logged as an error, once. Conflicts are no trouble: another member
// was quicker.
func (m *Member) tried(ctx context.Context, what string, err error) {
	if ctx.Err() != nil || apierrors.IsConflict(err) {
		return
	}
	forbidden := apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err)
	since, serious := m.note(what, err, forbidden)
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

// note notes how something ended, and returns since when it fails and whether that is to be told now, once:
// at once or when it has failed for RenewDeadline.
func (m *Member) note(what string, err error, atOnce bool) (since time.Time, serious bool) {
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
	serious = !t.told && (atOnce || now.Sub(t.since) >= m.config.RenewDeadline)
	t.told = t.told || serious
	return t.since, serious
}

// isOver reports whether what failed isn't tried any more: an attempt, and the pause before it, take less. It
// needs the lock.
func (m *Member) isOver(t *trouble) bool {
	return m.config.clock.now().Sub(t.last) > m.config.LeaseDuration+m.config.RenewDeadline
}

// lastly returns the last error of something that fails now, after a colon, or nothing. It needs the lock.
func (m *Member) lastly(what string) string {
	t := m.troubles[what]
	if t == nil || m.isOver(t) {
		return ""
	}
	return fmt.Sprintf(": %v", t.err)
}
