package engine

import (
	"context"
	"io"
	"sync"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/kubewright/kubewright/runtime/internal/deltafifo"
	"github.com/kubewright/kubewright/runtime/internal/reflector"
	"github.com/kubewright/kubewright/runtime/internal/served"
	"github.com/kubewright/kubewright/runtime/internal/sources"
)

// optionalReader is the [Reader] of an informer whose kind may not be served. It runs one reader after
// another: of the informer's source while the kind is served, of [nothing] while it is absent. So the cache
// becomes empty in the same way in which it is filled, and the informer of a part of its objects, too, has
// read what its part has.
type optionalReader struct {
	definitions served.Definitions
	resource    schema.GroupVersionResource
	source      sources.Source
	options     reflector.Options
	reader      func(sources.Source, reflector.Options) Reader
	// idle is a reader that never runs.
	idle Reader
	// afterwards calls a function after what was passed on is in the cache.
	afterwards func(func())
	// nothing is what is read while the kind is absent, else nil.
	nothing atomic.Pointer[nothing]

	mu sync.Mutex
	// observer is nil before the start, and current while no reader runs.
	observer served.Observer
	current  Reader
	// state is that of the current reader.
	state served.State
	// lists and watches are those of earlier readers while the kind was served.
	lists, watches int
}

// optionally returns what reader makes of the informer's source or, if the kind is optional, an
// [optionalReader] of it. The caller holds mu.
func (i *engine[K]) optionally(
	queue *deltafifo.DeltaFIFO[K], options reflector.Options,
	reader func(sources.Source, reflector.Options) Reader,
) Reader {
	definitions, _ := i.config.Options.Definitions.(served.Definitions) // Validate has checked it.
	source := i.config.Source
	if definitions == nil || i.resource().Empty() {
		return reader(source, options)
	}
	o := &optionalReader{
		definitions: definitions, resource: i.resource(), source: source, options: options, reader: reader,
		idle: reflector.New(source, nil, options),
		afterwards: func(call func()) {
			queue.Call(func(w *writer[K]) {
				call()
				w.announceVersion()
			})
		},
	}
	i.optional.Store(o)
	return o
}

// logUnlessOptional logs that the kind can't be optional though it should, because it isn't known.
func (i *engine[K]) logUnlessOptional(logger klog.Logger) {
	i.mu.Lock()
	unknown := i.config.Options.Definitions != nil && i.resource().Empty()
	i.mu.Unlock()
	if unknown {
		logger.Info("Warning: the informer's resource isn't known, so its kind isn't optional",
			"informer", i.config.Name)
	}
}

func (o *optionalReader) Run(ctx context.Context) {
	observer := o.definitions.Open(ctx, o.resource)
	defer observer.Close()
	o.mu.Lock()
	o.observer = observer
	o.mu.Unlock()
	wasAbsent := false
	for ctx.Err() == nil {
		status, changed := observer.Status()
		options, source := o.options, o.source
		switch status.State {
		case served.Unknown:
			o.enter(status.State, nil)
			select {
			case <-changed:
			case <-ctx.Done():
			}
			continue
		case served.Open:
			// What a replica that lags has cached of an earlier definition isn't read, and the first list doesn't
			// need the server's watch cache, which isn't ready yet.
			options.Consistent, options.ListFirst = options.Consistent || wasAbsent, wasAbsent
			options.Failed = o.failed
			if options.ErrorHandler == nil {
				options.ErrorHandler = o.logError
			}
		case served.Absent:
			absence := &nothing{reader: o}
			wasAbsent, source = true, absence
			o.nothing.Store(absence)
		}
		reader := o.reader(source, options)
		o.runUntil(ctx, status.State, reader)
		o.nothing.Store(nil)
		if status.State == served.Open {
			o.count(reader.Health())
		}
	}
}

// count adds the lists and watches of a reader that has ended to those of the readers before it.
func (o *optionalReader) count(h reflector.Health) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.current = nil
	o.lists += h.Lists
	o.watches += h.Watches
}

// isEmptied reports whether the cache is empty because the kind is absent.
func (o *optionalReader) isEmptied() bool {
	absence := o.nothing.Load()
	return absence != nil && absence.isShown.Load()
}

// runUntil runs a reader while the kind is in a state.
func (o *optionalReader) runUntil(ctx context.Context, state served.State, reader Reader) {
	ctx, cancel := context.WithCancel(ctx)
	o.enter(state, reader)
	var running sync.WaitGroup
	running.Go(func() { reader.Run(ctx) })
	defer running.Wait()
	defer cancel()
	for {
		now, changed := o.observer.Status()
		if now.State != state {
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}

func (o *optionalReader) enter(state served.State, current Reader) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.state, o.current = state, current
}

// now returns the state, and the reader that runs, or the one that never does.
func (o *optionalReader) now() (served.State, served.Observer, Reader) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.current == nil {
		return o.state, o.observer, o.idle
	}
	return o.state, o.observer, o.current
}

func (o *optionalReader) failed(err error) {
	if apierrors.IsNotFound(err) {
		o.observer.Missed()
	}
	o.options.Failed(err)
}

// logFor is how long an informer may get 404 before that is logged: by then it is known whether the
// definition was deleted.
const logFor = 5 * time.Second

// logError logs an error of the reader, but not what a definition that has just been deleted causes.
func (o *optionalReader) logError(ctx context.Context, err error) {
	h := o.Health()
	if apierrors.IsNotFound(err) && (h.FailingSince.IsZero() || time.Since(h.FailingSince) < logFor) {
		klog.FromContext(ctx).V(2).Info("The kind may be absent", "informer", o.options.Name, "err", err)
		return
	}
	reflector.LogError(ctx, o.options.Name, o.options.TypeDescription, err)
}

func (o *optionalReader) LastSyncResourceVersion() string {
	_, _, current := o.now()
	return current.LastSyncResourceVersion()
}

func (o *optionalReader) ClientGoStub() *cache.Reflector { return o.idle.ClientGoStub() }

// Health returns the health of the reader that runs. While the kind isn't served, the state and its time are
// those of the kind.
func (o *optionalReader) Health() reflector.Health {
	state, observer, current := o.now()
	h := current.Health()
	if state != served.Open { // An absent kind is listed from nothing.
		h.Lists, h.Watches, h.Synced, h.ListTook, h.ListItems = 0, 0, time.Time{}, 0, 0
		h.ListingSince, h.Relisting = time.Time{}, nil
	}
	o.mu.Lock()
	h.Lists += o.lists
	h.Watches += o.watches
	o.mu.Unlock()
	if observer == nil || state == served.Open {
		return h
	}
	status, _ := observer.Status()
	h.State, h.Since = reflector.BackingOff, status.Since
	h.LastError, h.FailingSince, h.Failures = status.Err, status.FailingSince, status.Failures
	if state == served.Absent {
		h.State = served.AbsentState
	}
	return h
}

// servedVersions returns the versions that are served while this one is absent.
func (o *optionalReader) servedVersions() []string {
	state, observer, _ := o.now()
	if observer == nil || state != served.Absent {
		return nil
	}
	status, _ := observer.Status()
	return status.Versions
}

// nothing is the source of a kind that is absent. It sends no request.
type nothing struct {
	reader *optionalReader
	// isShown is set once the cache is empty.
	isShown atomic.Bool
}

func (*nothing) List(context.Context, metav1.ListOptions, sources.Receiver) (sources.ListMeta, error) {
	return sources.ListMeta{}, nil
}

// Watch returns a stream that never has an event. A reader calls it when it has passed the list on.
func (n *nothing) Watch(context.Context, metav1.ListOptions) (sources.Stream, error) {
	n.reader.afterwards(func() { n.isShown.Store(true) })
	return &silence{ended: make(chan struct{})}, nil
}

// IsWatchListSemanticsUnSupported makes readers list in pages.
func (*nothing) IsWatchListSemanticsUnSupported() bool { return true }

// silence is a stream without events.
type silence struct {
	stop  sync.Once
	ended chan struct{}
}

func (s *silence) Next(ctx context.Context) (sources.Event, error) {
	select {
	case <-ctx.Done():
		return sources.Event{}, ctx.Err()
	case <-s.ended:
		return sources.Event{}, io.EOF
	}
}

func (s *silence) Stop() { s.stop.Do(func() { close(s.ended) }) }
