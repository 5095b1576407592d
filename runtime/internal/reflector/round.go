package reflector

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"github.com/kubewright/kubewright/runtime/internal/sources"
)

// round is one pass through the machine, from a list to the end of the last watch
// that continues it.
type round struct {
	*Reflector
	// session exists while the sink is current, from the commit of the list.
	session *session
	// err is the error of a round that ended before its first watch.
	err error
	// brief counts the watches in a row that took less than a second.
	brief int
	// silent counts the watches in a row that Options.SilenceTimeout has ended, none of which brought anything.
	silent int
}

// state is a place in the machine. A nil state ends the round.
type state interface {
	name() State
	// step does the state's work. It needn't distinguish the end of ctx from
	// other errors: the machine stops before the next step.
	step(ctx context.Context, r *round) state
}

func (r *round) start(ctx context.Context) state {
	if r.resumes {
		r.resumes = false
		r.session = r.newSession(ctx)
		return watching{}
	}
	r.health.begin()
	if r.watchList && !(r.opts.ListFirst && r.position.last() == "") {
		return streaming{}
	}
	return listing{}
}

func (r *round) endSession() {
	if r.session != nil {
		r.session.cancel(nil)
		r.session.ticks.Wait()
	}
}

// fail ends the round with an error, which goes to the handler.
func (r *round) fail(ctx context.Context, err error) state {
	r.err = err
	return r.endRound(ctx, err)
}

// endRound ends the round because of an error. The handler gets it only by fail. Run pauses, and the next
// round lists.
func (r *round) endRound(ctx context.Context, err error) state {
	if ctx.Err() == nil {
		r.health.failed(err)
		r.health.relists(err)
	}
	return nil
}

// expired ends the round because the server no longer has the history since the version of the watch. That is
// no failure, unless the round before ended in the same way, and neither watch had time to fall behind.
func (r *round) expired(ctx context.Context, err error, tried attempt) state {
	again := r.expiredAtOnce
	if r.expiredAtOnce = tried.vain(); again && r.expiredAtOnce {
		return r.endRound(ctx, err)
	}
	r.health.relists(err)
	return nil
}

// maxBrief is how many brief watches in a row are followed by another one at once.
const maxBrief = 10

// watchAgain goes on with another watch. Watches that bring news, however brief, are reopened at once, but a
// server that closes each of them must not get as many requests as it can answer.
func (r *round) watchAgain(ctx context.Context, tried attempt) state {
	if r.brief++; !tried.brief() {
		r.brief = 0
	}
	r.expiredAtOnce = false
	if r.brief < maxBrief {
		return watching{}
	}
	klog.FromContext(ctx).V(2).Info("Watches keep ending within a second, waiting before the next one",
		"inARow", r.brief)
	return slowingDown{}
}

// retry goes on with next after a wait for a server that is down or busy.
func (r *round) retry(ctx context.Context, err error, next state) state {
	if ctx.Err() == nil {
		r.health.failed(err)
	}
	seconds, _ := apierrors.SuggestsClientDelay(err)
	return backingOff{atLeast: time.Duration(seconds) * time.Second, next: next}
}

// newest calls Options.Newest if the list that follows requests the newest state because the server couldn't
// serve the version. It returns what to call if that list turns out to be older.
func (r *Reflector) newest() (wentBack func()) {
	if r.opts.Newest == nil || !r.position.unavailable {
		return func() {}
	}
	return r.opts.Newest()
}

// committed is where both ways of listing end: the sink is current.
func (r *round) committed(
	ctx context.Context, version string, items int, stream sources.Stream, wentBack func(),
) state {
	if before := r.position.set(version); compareVersions(version, before) < 0 {
		r.reportOutOfOrder(ctx, "list", version, before)
		wentBack()
	}
	r.health.synced(items)
	klog.FromContext(ctx).V(2).Info("Caches populated")
	r.session = r.newSession(ctx)
	return watching{stream: stream}
}

// backingOff waits, then goes on with next.
type backingOff struct {
	atLeast time.Duration
	next    state
}

func (backingOff) name() State { return BackingOff }

func (s backingOff) step(ctx context.Context, r *round) state {
	if r.session != nil {
		ctx = r.session.ctx
	}
	r.pause(ctx, s.atLeast)
	return s.next
}

// slowingDown waits for a second, then watches.
type slowingDown struct{}

func (slowingDown) name() State { return BackingOff }

func (slowingDown) step(_ context.Context, r *round) state {
	sleep(r.session.ctx, time.Second)
	return watching{}
}

// pause waits for the back-off, or for atLeast (the server's Retry-After) if that
// is longer, or until ctx is done.
func (r *Reflector) pause(ctx context.Context, atLeast time.Duration) {
	if ctx.Err() != nil {
		return
	}
	r.health.enter(BackingOff)
	sleep(ctx, max(r.delay(), atLeast))
}

// sleep waits for d, or until ctx is done.
func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// watchTimeout is a random number of seconds between MinWatchTimeout and twice
// that.
func (r *Reflector) watchTimeout() *int64 {
	return new(int64(r.opts.MinWatchTimeout.Seconds() * (1 + rand.Float64())))
}

// watchOptions are the options of every watch.
func (r *Reflector) watchOptions(version string) metav1.ListOptions {
	return metav1.ListOptions{
		ResourceVersion:     version,
		TimeoutSeconds:      r.watchTimeout(),
		AllowWatchBookmarks: true,
	}
}

// internalErrorReset is how long a server must go without an internal error for
// the next one to count as the first.
const internalErrorReset = time.Minute

// session is the state from one list to the next, over any number of watches:
// the resync ticks, and the retries after internal errors of the server.
type session struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	ticks  sync.WaitGroup
	retry  cache.RetryWithDeadline
}

// resyncError is why a session ends when Resync fails.
type resyncError struct{ error }

func (r *Reflector) newSession(ctx context.Context) *session {
	s := &session{retry: cache.NewRetryWithDeadline(
		r.opts.MaxInternalErrorRetryDuration, internalErrorReset, apierrors.IsInternalError,
		clock.RealClock{})}
	s.ctx, s.cancel = context.WithCancelCause(ctx)
	if r.opts.ResyncPeriod > 0 {
		s.ticks.Go(func() { r.resync(s) })
	}
	return s
}

func (r *Reflector) resync(s *session) {
	for {
		// The period counts from the end of the resync.
		if sleep(s.ctx, r.opts.ResyncPeriod); s.ctx.Err() != nil {
			return
		}
		if r.opts.ShouldResync == nil || r.opts.ShouldResync() {
			klog.FromContext(s.ctx).V(4).Info("Forcing resync")
			if err := r.resyncSink(); err != nil {
				s.cancel(resyncError{fmt.Errorf("unable to resync: %w", err)})
				return
			}
		}
	}
}

func (r *Reflector) resyncSink() error {
	r.sinkMu.Lock()
	defer r.sinkMu.Unlock()
	return r.sink.Resync()
}

// sessionError is the error of Resync that ended the session, if one did.
func (r *round) sessionError() error {
	if failed := (resyncError{}); errors.As(context.Cause(r.session.ctx), &failed) {
		return failed.error
	}
	return nil
}
