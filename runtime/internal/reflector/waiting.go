package reflector

import (
	"context"
	"time"

	"k8s.io/klog/v2"

	"github.com/kubewright/kubewright/runtime/internal/sources"
)

// waitWarning is how long a list may wait for others before that is logged.
const waitWarning = 10 * time.Second

// withWaits returns a context for a list in state s. While the list waits for those of
// other informers that share its limiter, the health shows it, long waits are logged, and
// the deadline d, which may be nil, is paused.
func (r *Reflector) withWaits(ctx context.Context, s State, d *deadline) context.Context {
	logger := klog.FromContext(ctx)
	var warning *time.Timer
	var since time.Time
	return sources.WithWaits(ctx, func(begins bool) {
		if begins {
			d.pause()
			r.health.enter(Waiting)
			since = time.Now()
			warning = time.AfterFunc(waitWarning, func() {
				logger.Info("Warning: a list waits for those of other informers, which share its limiter",
					"waitingFor", time.Since(since))
			})
			return
		}
		warning.Stop()
		r.health.waitedFor(time.Since(since))
		r.health.enter(s)
		d.resume()
	})
}

// deadline calls a function after a time in which it wasn't paused. It is for one
// goroutine. A nil deadline never comes.
type deadline struct {
	remaining time.Duration
	since     time.Time
	timer     *time.Timer
}

func newDeadline(after time.Duration, end func()) *deadline {
	if after <= 0 {
		return nil
	}
	return &deadline{remaining: after, since: time.Now(), timer: time.AfterFunc(after, end)}
}

func (d *deadline) pause() {
	if d != nil && d.timer.Stop() {
		d.remaining -= time.Since(d.since)
	}
}

func (d *deadline) resume() {
	if d != nil {
		d.since = time.Now()
		d.timer.Reset(d.remaining)
	}
}

func (d *deadline) stop() {
	if d != nil {
		d.timer.Stop()
	}
}
