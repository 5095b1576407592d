package cache

import (
	"context"
	"errors"
	"strings"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/kubewright/kubewright/runtime/internal/reflector"
	"github.com/kubewright/kubewright/runtime/listwatch"
)

// engine is our reflector inside the shell of client-go's type. The shell's outer
// loop (rounds, the waits between them, its error handler) is used as it is; all
// that a round consists of is ours. To the shell, a round looks like this:
//
//   - its list is answered, with an empty one, when ours is committed;
//   - its watch is answered when ours is open, and brings nothing but bookmarks,
//     from which the shell knows how far ours is;
//   - the end of our round is an expired watch, after which the shell begins the
//     next one.
type engine struct {
	shell   *Reflector
	source  listwatch.Source[any]
	store   ReflectorStore
	options ReflectorOptions

	// running is held by the goroutine of a round. It guards streamed: the list
	// of the round came by a watch, which goes on.
	running  sync.Mutex
	streamed bool

	mu    sync.Mutex
	core  *reflector.Reflector[any] // made for the first round
	round *engineRound              // the current one
}

// engineRound is one list and watch.
type engineRound struct {
	cancel    context.CancelFunc
	version   string // of the list, once committed is closed
	committed signal
	opened    signal // the watch, or the stream that the list came by
	ended     signal
	err       error // of the round, once ended is closed
	// progress has room for one event: a newer one takes the place of one that
	// wasn't read.
	progress chan watch.Event
}

// signal is a channel that can be closed more than once.
type signal struct {
	once sync.Once
	c    chan struct{}
}

func newSignal() signal { return signal{c: make(chan struct{})} }

func (s *signal) send() { s.once.Do(func() { close(s.c) }) }

func (s *signal) sent() bool {
	select {
	case <-s.c:
		return true
	default:
		return false
	}
}

// start begins a round.
func (e *engine) start(ctx context.Context) *engineRound {
	ctx, cancel := context.WithCancel(ctx)
	round := &engineRound{
		cancel: cancel, committed: newSignal(), opened: newSignal(), ended: newSignal(),
		progress: make(chan watch.Event, 1),
	}
	go func() {
		defer round.ended.send()
		defer cancel()
		e.running.Lock()
		defer e.running.Unlock()
		round.err = e.begin(round).ListAndWatch(ctx)
		over := apierrors.NewResourceExpired("the round of list and watch is over").Status()
		round.report(watch.Error, &over)
	}()
	return round
}

// begin makes round the current one. The fields of the shell, which its user may
// have set since it was made, count from the first round on.
func (e *engine) begin(round *engineRound) *reflector.Reflector[any] {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.round = round
	if e.core != nil {
		return e.core
	}
	updated := versionUpdated(e.store)
	e.core = reflector.New[any](engineSource{e}, engineSink{sink{e.store}, e}, reflector.Options{
		Name:                          e.shell.Name(),
		TypeDescription:               e.shell.TypeDescription(),
		ResyncPeriod:                  e.options.ResyncPeriod,
		ShouldResync:                  e.shell.ShouldResync,
		PageSize:                      e.shell.WatchListPageSize,
		MinWatchTimeout:               e.options.MinWatchTimeout,
		MaxInternalErrorRetryDuration: e.shell.MaxInternalErrorRetryDuration,
		Backoff:                       e.options.Backoff,
		ResourceVersionUpdated: func(version string) {
			if updated != nil {
				updated(version)
			}
			e.current().report(watch.Bookmark, &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{ResourceVersion: version}})
		},
	})
	return e.core
}

func (e *engine) current() *engineRound {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.round
}

// report is called from the goroutine of the round only.
func (r *engineRound) report(t watch.EventType, obj runtime.Object) {
	for {
		select {
		case r.progress <- watch.Event{Type: t, Object: obj}:
			return
		default:
		}
		select {
		case <-r.progress:
		default:
		}
	}
}

// wait returns when something has happened that a round does, or its error.
func (r *engineRound) wait(ctx context.Context, happened *signal) error {
	select {
	case <-happened.c:
	case <-r.ended.c:
	}
	switch {
	case happened.sent():
		return nil
	case r.err != nil:
		return r.err
	case ctx.Err() != nil:
		return ctx.Err()
	}
	return errRoundOver
}

// errRoundOver is for a round that ended early without an error, which none does
// unless its context is done.
var errRoundOver = errors.New("the round is over")

// ResultChan and Stop make the round a watch. Stop returns when it has ended.
func (r *engineRound) ResultChan() <-chan watch.Event { return r.progress }

func (r *engineRound) Stop() {
	r.cancel()
	<-r.ended.c
}

// engineLists is the engine as the shell's lister-watcher.
type engineLists struct{ *engine }

func (e engineLists) ListWithContext(ctx context.Context, _ metav1.ListOptions) (runtime.Object, error) {
	round := e.start(ctx)
	if err := round.wait(ctx, &round.committed); err != nil {
		// The shell says that the list failed, too.
		if strings.HasPrefix(err.Error(), "failed to list ") {
			err = errors.Unwrap(err)
		}
		return nil, err
	}
	return &metav1.List{ListMeta: metav1.ListMeta{ResourceVersion: round.version}}, nil
}

func (e engineLists) WatchWithContext(ctx context.Context, _ metav1.ListOptions) (watch.Interface, error) {
	round := e.current()
	if err := round.wait(ctx, &round.opened); err != nil {
		return nil, err
	}
	return round, nil
}

func (e engineLists) List(opts metav1.ListOptions) (runtime.Object, error) {
	return e.ListWithContext(context.Background(), opts)
}

func (e engineLists) Watch(opts metav1.ListOptions) (watch.Interface, error) {
	return e.WatchWithContext(context.Background(), opts)
}

// IsWatchListSemanticsUnSupported keeps the shell from streaming its list; ours
// may be streamed.
func (e engineLists) IsWatchListSemanticsUnSupported() bool { return true }

// engineSource is where the engine lists and watches; it notes when a watch opens.
type engineSource struct{ e *engine }

func (s engineSource) List(ctx context.Context, opts metav1.ListOptions, item func(any) error) (listwatch.ListMeta, error) {
	s.e.streamed = false
	return s.e.source.List(ctx, opts, item)
}

func (s engineSource) Watch(ctx context.Context, opts metav1.ListOptions) (listwatch.Stream[any], error) {
	stream, err := s.e.source.Watch(ctx, opts)
	if err == nil {
		if s.e.streamed = opts.SendInitialEvents != nil; !s.e.streamed {
			s.e.current().opened.send()
		}
	}
	return stream, err
}

func (s engineSource) IsWatchListSemanticsUnSupported() bool {
	u, ok := s.e.source.(interface{ IsWatchListSemanticsUnSupported() bool })
	return ok && u.IsWatchListSemanticsUnSupported()
}

// engineSink notes when a list is committed.
type engineSink struct {
	sink
	e *engine
}

func (s engineSink) Begin() reflector.Staging[any] {
	return engineStaging{staging: &staging{store: s.store}, e: s.e}
}

type engineStaging struct {
	*staging
	e *engine
}

func (s engineStaging) Commit(resourceVersion string) error {
	if err := s.staging.Commit(resourceVersion); err != nil {
		return err
	}
	round := s.e.current()
	round.version = resourceVersion
	if s.e.streamed {
		round.opened.send()
	}
	round.committed.send()
	return nil
}

// engineStore is the shell's store: nothing is stored there.
type engineStore struct{}

func (engineStore) Add(any) error               { return nil }
func (engineStore) Update(any) error            { return nil }
func (engineStore) Delete(any) error            { return nil }
func (engineStore) Replace([]any, string) error { return nil }
func (engineStore) Resync() error               { return nil }
