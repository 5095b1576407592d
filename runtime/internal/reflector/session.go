package reflector

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
)

// internalErrorReset is how long a server must go without an internal error for
// the next one to count as the first.
const internalErrorReset = time.Minute

// session is what lasts from one list to the next, however many watches that
// takes: the resync ticks, and the patience with a server's internal errors.
type session struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	ticks  sync.WaitGroup
	retry  cache.RetryWithDeadline
}

// resyncError is why a session ends when Resync fails.
type resyncError struct{ error }

func (r *Reflector) begin(ctx context.Context) *session {
	s := &session{retry: NewRetryWithDeadline(
		r.opts.MaxInternalErrorRetryDuration, internalErrorReset, apierrors.IsInternalError, clock.RealClock{})}
	s.ctx, s.cancel = context.WithCancelCause(ctx)
	if r.opts.ResyncPeriod > 0 {
		s.ticks.Go(func() { r.resync(s) })
	}
	return s
}

func (s *session) end() {
	s.cancel(nil)
	s.ticks.Wait()
}

func (r *Reflector) resync(s *session) {
	timer := time.NewTimer(r.opts.ResyncPeriod)
	defer timer.Stop()
	for {
		select {
		case <-s.ctx.Done():
			return
		case <-timer.C:
		}
		if r.opts.ShouldResync == nil || r.opts.ShouldResync() {
			klog.FromContext(s.ctx).V(4).Info("Forcing resync")
			if err := r.resyncSink(); err != nil {
				s.cancel(resyncError{fmt.Errorf("unable to resync: %w", err)})
				return
			}
		}
		// The period counts from the end of the resync.
		timer.Reset(r.opts.ResyncPeriod)
	}
}

func (r *Reflector) resyncSink() error {
	r.sinkMu.Lock()
	defer r.sinkMu.Unlock()
	return r.sink.Resync()
}

// sessionError is the error of Resync that ended the session, if one did.
func (r *round) sessionError() error {
	if r.session != nil {
		if failed := (resyncError{}); errors.As(context.Cause(r.session.ctx), &failed) {
			return failed.error
		}
	}
	return nil
}
