package reflector

import (
	"context"
	"errors"
	"io"
	"math/bits"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/kubewright/kubewright/runtime/internal/sources"
)

// watching hands the events of one watch to the sink. How the watch ends decides
// what follows:
//
//   - closed in good order, or silent for too long: the next watch, at once
//   - silent for too long, twice in a row, and the server hasn't reached the version: the round ends, and the
//     next one lists. After a restore of etcd, servers send nothing to a watch from a later version
//   - can't be opened, server down or busy: wait, then the next watch
//   - can't be opened, any other error: the round fails
//   - throttled: wait, then the next watch
//   - internal error of the server, within MaxInternalErrorRetryDuration: the next watch
//   - expired (410), closed within a second without a new version, any other error: the
//     round ends, and the next one lists
//
// The next watch waits for a second if many in a row were brief.
type watching struct {
	// stream is a watch that is open already, nil to open one.
	stream sources.Stream
}

func (watching) name() State { return Watching }

func (s watching) step(ctx context.Context, r *round) state {
	// The clock starts before the request: some proxies send no headers until
	// the first event.
	opened := time.Now()
	// Silence ends the watch by its context, because the server may not even answer the request.
	open, end := context.WithCancel(r.session.ctx)
	defer end()
	idle := startIdleTimeout(end, r.opts.SilenceTimeout)
	defer idle.stop()
	// Versions are recorded once the events come in their order. In a watch from
	// a version that is so from the start. A watch without a version first sends
	// the existing objects, in any order.
	from := r.position.last()
	inOrder := s.stream != nil || from != "" && from != "0"
	tried := attempt{Reflector: r.Reflector, opened: opened, from: from}
	stream, next := s.opened(ctx, open, r, tried, idle)
	if stream == nil {
		return next
	}
	defer stream.Stop()
	r.health.connected()
	idle.reset()
	reported := false // An event that is out of order is reported once.
	_, err := r.follow(open, stream, opened, func(e sources.Event) bool {
		idle.reset()
		r.silent = 0
		r.apply(ctx, e)
		inOrder = inOrder || isChange(e.Type)
		if inOrder {
			before := r.position.set(e.ResourceVersion)
			reported = reported || r.checkOrder(ctx, e, before)
			if r.opts.ResourceVersionUpdated != nil {
				r.opts.ResourceVersionUpdated(e.ResourceVersion)
			}
		}
		return false
	})
	return s.ended(ctx, r, tried, idle, err)
}

// attempt is one watch: when it was requested, and from which version.
type attempt struct {
	*Reflector
	opened time.Time
	from   string
}

// brief reports whether the watch took less than a second.
func (a attempt) brief() bool { return time.Since(a.opened) < time.Second }

// vain reports whether the watch was brief and has brought no new version.
func (a attempt) vain() bool { return a.brief() && a.position.last() == a.from }

// opened returns the stream of a watch in the context open, or no stream and what follows.
func (s watching) opened(
	ctx, open context.Context, r *round, tried attempt, idle *idleTimeout,
) (sources.Stream, state) {
	if s.stream != nil {
		return s.stream, nil
	}
	stream, err := r.source.Watch(open, r.watchOptions(tried.from))
	switch {
	case err == nil:
		return stream, nil
	case idle.endedWatch():
		return nil, s.idleTimedOut(ctx, r, tried)
	case r.sessionError() != nil:
		return nil, s.endWith(ctx, r, r.sessionError())
	case isWorthWaiting(err):
		klog.FromContext(ctx).V(4).Info("Watch failed, backing off", "err", err)
		return nil, r.retry(ctx, err, watching{})
	case isExpired(err):
		r.err = err // The handler gets it, as in client-go.
		return nil, r.expired(ctx, err, tried)
	}
	return nil, r.fail(ctx, err)
}

// ended returns what follows a watch that was open.
func (s watching) ended(ctx context.Context, r *round, tried attempt, idle *idleTimeout, err error) state {
	if idle.endedWatch() {
		return s.idleTimedOut(ctx, r, tried)
	}
	logger := klog.FromContext(ctx)
	r.session.retry.After(err)
	switch {
	case err == nil && tried.vain():
		return s.endWith(ctx, r, &cache.VeryShortWatchError{Name: r.name})
	case err == nil:
		return r.watchAgain(ctx, tried)
	case r.sessionError() != nil:
		return s.endWith(ctx, r, r.sessionError())
	case isExpired(err):
		// The next list still requests this version, or a later one. Only a list
		// that the server can't serve at it gives the version up.
		logger.V(4).Info("Watch closed", "err", err)
		return r.expired(ctx, err, tried)
	case apierrors.IsTooManyRequests(err):
		logger.V(2).Info("Watch returned 429, backing off")
		return r.retry(ctx, err, watching{})
	case apierrors.IsInternalError(err) && r.session.retry.ShouldRetry():
		logger.V(2).Info("Retrying watch after internal error", "err", err)
		r.health.failed(err)
		return r.watchAgain(ctx, tried)
	}
	return s.endWith(ctx, r, err)
}

// checkOrder reports an event that isn't later than the version before, and a bookmark that is older.
func (r *round) checkOrder(ctx context.Context, e sources.Event, before string) (reported bool) {
	order := compareVersions(e.ResourceVersion, before)
	if order > 0 || order == 0 && e.Type == watch.Bookmark {
		return false
	}
	r.reportOutOfOrder(ctx, "event", e.ResourceVersion, before)
	return true
}

// idleTimedOut goes on with another watch, or ends the round if the server is behind the informer.
func (s watching) idleTimedOut(ctx context.Context, r *round, tried attempt) state {
	klog.FromContext(ctx).Info("Warning: nothing arrived on a watch, not even a bookmark; watching anew",
		"silentFor", r.opts.SilenceTimeout)
	r.health.failed(errIdle)
	// The second silent watch is followed by a question, and the fourth, the eighth, and so on.
	if r.silent++; r.silent > 1 && bits.OnesCount(uint(r.silent)) == 1 && r.isAhead(ctx) {
		r.position.unavailable = true
		return s.endWith(ctx, r, errAhead)
	}
	return r.watchAgain(ctx, tried)
}

// errAhead is why a list follows silent watches.
var errAhead = errors.New("watches are silent, and the server hasn't reached their version: perhaps its" +
	" data was restored")

// isAhead asks for one object at the version of the watch, and reports whether the server answers that it
// hasn't reached it. It returns false if there is no answer in time.
func (r *round) isAhead(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	_, err := r.source.List(ctx, metav1.ListOptions{ResourceVersion: r.position.last(), Limit: 1,
		ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan}, nobody{})
	return err != nil && isTooLarge(err)
}

// answerTime is longer than an API server waits for a version, 3 s, and client-go's client asks again.
const answerTime = time.Minute

// nobody receives objects that nobody needs.
type nobody struct{}

func (nobody) Add(any) error  { return nil }
func (nobody) Restart() error { return nil }

// endWith ends the round with a warning.
func (watching) endWith(ctx context.Context, r *round, err error) state {
	if ctx.Err() == nil {
		klog.FromContext(ctx).Info("Warning: watch ended with error", "err", err)
	}
	return r.endRound(ctx, err)
}

// isChange reports whether an event of this type can't be an initial object of a watch.
func isChange(t watch.EventType) bool {
	return t == watch.Modified || t == watch.Deleted || t == watch.Bookmark
}

// follow hands the events of stream to handle, until handle returns true or the
// stream ends. A stream that ends without an event within a second of being
// opened is an error, so that it isn't reopened in a tight loop.
func (r *Reflector) follow(
	ctx context.Context, stream sources.Stream, opened time.Time, handle func(sources.Event) (done bool),
) (bool, error) {
	for count := 0; ; count++ {
		event, err := stream.Next(ctx)
		if err != nil {
			return false, r.endOfStream(ctx, err, opened, count)
		}
		now := r.health.event(event.Type == watch.Bookmark && !event.InitialEventsEnd)
		if event.Written != 0 {
			r.opts.Lag.Add(now/int64(time.Millisecond), event.Written)
		}
		if handle(event) {
			return true, nil
		}
	}
}

// endOfStream returns the error of follow for one of the stream, after count events.
func (r *Reflector) endOfStream(ctx context.Context, err error, opened time.Time, count int) error {
	if !errors.Is(err, io.EOF) {
		return err
	}
	if count == 0 && time.Since(opened) < time.Second {
		return &cache.VeryShortWatchError{Name: r.name}
	}
	klog.FromContext(ctx).V(4).Info("Watch close", "totalItems", count)
	return nil
}

// apply hands one event to the sink. An event that the sink refuses is logged and becomes the
// health's last error; its change is lost until the next list.
func (r *Reflector) apply(ctx context.Context, e sources.Event) {
	var err error
	r.sinkMu.Lock()
	defer r.sinkMu.Unlock()
	switch e.Type {
	case watch.Added:
		err = r.sink.Added(e.Object, e.ResourceVersion)
	case watch.Modified:
		err = r.sink.Updated(e.Object, e.ResourceVersion)
	case watch.Deleted:
		err = r.sink.Deleted(e.Object, e.ResourceVersion)
	case watch.Bookmark:
		err = r.sink.Bookmark(e.ResourceVersion)
	default:
		utilruntime.HandleErrorWithContext(ctx, nil, "Unknown watch event", "eventType", e.Type)
	}
	if err != nil {
		r.health.noticed(err)
		utilruntime.HandleErrorWithContext(ctx, err, "Unable to hand watch event object on",
			"eventType", e.Type, "object", nameOf(e.Object))
	}
}

// errIdle is the failure of a watch on which nothing arrived.
var errIdle = errors.New("nothing arrived on the watch for too long, not even a bookmark")

// idleTimeout ends a watch on which nothing arrives for timeout. A nil idleTimeout never
// ends it.
type idleTimeout struct {
	timeout time.Duration
	timer   *time.Timer
	ended   atomic.Bool
}

// startIdleTimeout calls end after timeout without a call of reset.
func startIdleTimeout(end func(), timeout time.Duration) *idleTimeout {
	if timeout <= 0 {
		return nil
	}
	s := &idleTimeout{timeout: timeout}
	s.timer = time.AfterFunc(timeout, func() {
		s.ended.Store(true)
		end()
	})
	return s
}

// reset starts the timeout anew, because something arrived. It has no effect after the watch was ended.
func (s *idleTimeout) reset() {
	if s != nil && s.timer.Stop() {
		s.timer.Reset(s.timeout)
	}
}

// endedWatch reports whether the timeout has ended the watch.
func (s *idleTimeout) endedWatch() bool { return s != nil && s.ended.Load() }

func (s *idleTimeout) stop() {
	if s != nil {
		s.timer.Stop()
	}
}
