package reflector

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/util/consistencydetector"
	"k8s.io/klog/v2"

	"github.com/kubewright/kubewright/runtime/internal/sources"
)

// idleWarningPeriod is how long a watch-list may be silent before each warning.
const idleWarningPeriod = 10 * time.Second

// errNoEndBookmark is the cause of giving up on a watch-list.
var errNoEndBookmark = errors.New("no bookmark marked the end of the initial events in time")

// streaming reads a watch-list: a list as the first events of a watch, up to the bookmark
// that marks their end; the same watch then goes on with the changes. The server's answer
// decides what follows:
//
//   - down or busy: wait, then stream again
//   - the version is expired (410) or too large: stream again at the newest one
//   - closed in the middle without an error: stream again
//   - no end in time: listing; the health counts a failure
//   - a server without watch-lists: listing
//   - any other error: listing; the health counts a failure
type streaming struct {
	// again is true after an attempt that led back here at once. If the next one
	// does so, too, it waits: requests to a server that always fails in the same
	// way must not form a tight loop.
	again bool
}

func (streaming) name() State { return Streaming }

func (s streaming) step(ctx context.Context, r *round) state {
	list := watchList{Reflector: r.Reflector}
	complete, err := list.read(ctx)
	switch {
	case complete && err == nil:
		return r.committed(ctx, list.version, list.items, list.stream, list.wentBack)
	case err == nil:
		return s.repeat()
	case isWorthWaiting(err):
		klog.FromContext(ctx).V(2).Info("Watch-list failed, backing off", "err", err)
		return r.retry(ctx, err, streaming{})
	case isVersionUnavailable(err):
		r.position.unavailable = true
		return s.repeat()
	case errors.Is(err, errNoEndBookmark):
		klog.FromContext(ctx).Info("Warning: a watch-list didn't end in time, listing instead",
			"timeout", r.opts.InitialEventsTimeout)
		r.health.failed(err)
		return listing{}
	}
	if !isRefused(err) && ctx.Err() == nil {
		r.health.failed(err)
	}
	klog.FromContext(ctx).V(4).Info(
		"The list couldn't be streamed, listing instead; expected of servers without WatchList", "err", err)
	return listing{}
}

func (s streaming) repeat() state {
	if s.again {
		return backingOff{next: streaming{}}
	}
	return streaming{again: true}
}

// watchList is one attempt. After a read that was complete, the stream is
// open and the list committed.
type watchList struct {
	*Reflector
	staging Staging
	stream  sources.Stream
	version string
	items   int
	// wentBack is to be called if the list is older than what the sink had.
	wentBack func()
}

func (l *watchList) read(ctx context.Context) (complete bool, err error) {
	opts := l.watchOptions(l.position.forWatchList())
	opts.SendInitialEvents = new(true)
	opts.ResourceVersionMatch = metav1.ResourceVersionMatchNotOlderThan

	// The stream outlives this attempt if it succeeds, so its context ends with
	// the stream.
	ctx, cancel := context.WithCancelCause(ctx)
	opened := time.Now()
	deadline := newDeadline(l.opts.InitialEventsTimeout, func() { cancel(errNoEndBookmark) })
	defer deadline.stop()
	ctx = l.withWaits(ctx, Streaming, deadline)
	l.wentBack = l.newest()
	stream, err := l.source.Watch(ctx, opts)
	if err != nil {
		defer cancel(nil)
		return false, l.orTimeout(ctx, err)
	}
	l.stream = &ownedStream{Stream: stream, cancel: cancel}
	defer func() {
		if l.staging != nil {
			l.staging.Discard()
		}
		if !complete || err != nil {
			l.stream.Stop()
		}
	}()
	l.staging = l.sink.Begin()
	var inspected *inspected
	if consistencydetector.IsDataConsistencyDetectionForWatchListEnabled() {
		inspected = inspect(l.staging)
		l.staging = inspected
	}
	// If the list waited for others, its request was sent after that.
	opened = latest(opened, l.health.read().Since)
	warned := l.warnWhenIdle(ctx, opened)
	ended, err := l.follow(ctx, l.stream, opened, l.stage(ctx))
	warned()
	if err != nil || !ended {
		return false, l.orTimeout(ctx, err)
	}
	l.position.unavailable = false
	if inspected != nil {
		inspected.check(ctx, l.name, l.version, l.source)
	}
	staging := l.staging
	l.staging = nil
	if err := staging.Commit(l.version); err != nil {
		return false, fmt.Errorf("unable to sync watch-list: %w", err)
	}
	return true, nil
}

// orTimeout returns errNoEndBookmark if the deadline ended ctx, otherwise err.
func (l *watchList) orTimeout(ctx context.Context, err error) error {
	if errors.Is(context.Cause(ctx), errNoEndBookmark) {
		return errNoEndBookmark
	}
	return err
}

// stage returns the function that stages each event: before the end bookmark,
// the server may send changes as well as initial objects.
func (l *watchList) stage(ctx context.Context) func(sources.Event) bool {
	return func(e sources.Event) (done bool) {
		var err error
		switch e.Type {
		case watch.Added:
			l.items++
			err = l.staging.Add(e.Object, e.ResourceVersion)
		case watch.Modified:
			l.version = e.ResourceVersion
			err = l.staging.Update(e.Object, e.ResourceVersion)
		case watch.Deleted:
			l.version = e.ResourceVersion
			err = l.staging.Remove(e.Object)
		case watch.Bookmark:
			l.version = e.ResourceVersion
			done = e.InitialEventsEnd
		default:
			utilruntime.HandleErrorWithContext(ctx, nil, "Unknown watch event", "eventType", e.Type)
		}
		if err != nil {
			l.health.noticed(err)
			utilruntime.HandleErrorWithContext(ctx, err, "Unable to stage watch event object",
				"eventType", e.Type, "object", nameOf(e.Object))
		}
		return done
	}
}

// warnWhenIdle logs, until the function that it returns is called, when
// nothing has arrived for a while.
func (l *watchList) warnWhenIdle(ctx context.Context, opened time.Time) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var warning sync.WaitGroup
	warning.Go(func() {
		for sleep(ctx, idleWarningPeriod); ctx.Err() == nil; sleep(ctx, idleWarningPeriod) {
			health := l.health.read()
			if health.State == Waiting {
				continue // The list waits for others; the server isn't silent.
			}
			last := latest(opened, health.Since, health.LastEvent)
			if silent := time.Since(last); silent >= idleWarningPeriod {
				klog.FromContext(ctx).Info(
					"Warning: awaiting required bookmark event for initial events stream",
					"silentFor", silent, "openFor", time.Since(opened))
			}
		}
	})
	return func() {
		cancel()
		warning.Wait()
	}
}

func latest(times ...time.Time) time.Time { return slices.MaxFunc(times, time.Time.Compare) }

// ownedStream is a stream that ends the context that it was opened with.
type ownedStream struct {
	sources.Stream
	cancel context.CancelCauseFunc
}

func (s *ownedStream) Stop() {
	s.Stream.Stop()
	s.cancel(nil)
}
