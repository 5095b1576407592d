package workqueue

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"

	"github.com/kubewright/kubewright/runtime/queue"
)

// Result is the result of a reconciler that succeeded.
type Result struct {
	// RequeueAfter is the delay after which the item is processed again. 0 or less means not at all.
	RequeueAfter time.Duration
}

// Run processes the items of q with the given number of workers until ctx is done, or until q has been
// shut down and is empty. It returns nil when all workers have ended, or an error if the time of WithGrace
// runs out first. It returns an error at once if q or a function is nil.
//
// For each item a worker calls reconcile and then, depending on the error:
//
//	nil                 resets the limiter's failures of the item, and adds it again after the
//	                    result's RequeueAfter, if any
//	Terminal            resets the failures, and reports the error
//	the context's       once that has ended: adds the item again, without a delay or a report
//	any other           adds the item again after the limiter's delay, and reports the error
//
// It calls Done in any case. A queue that has been shut down, as by WithDrain, ignores additions, so
// nothing is tried again. Errors and panics are reported to utilruntime; options change both. A call of
// runtime.Goexit in reconcile is an error of the item, and another worker takes the place of the one that it
// has ended.
//
// When ctx is done, workers take no further item, and the context of reconcile ends, unless an option
// keeps it. Without WithDrain, Run doesn't shut q down, and q can be given to Run again. The exception is a
// queue of another implementation, because only a shutdown interrupts its Get.
//
// If q is a queue of package queue with a Config.Context, that makes the context of each call of reconcile.
// Of a q with a method Unwrap, as a sharding.Queue, it is the Config.Context of the inner queue.
//
// A negative number of workers counts as 0. With 0 workers nothing is processed, and a shutdown isn't
// noticed, until the Pool of WithPool is resized; without a Pool, Run waits for ctx.
func Run[T comparable](
	ctx context.Context, q TypedRateLimitingInterface[T], workers int,
	reconcile func(context.Context, T) (Result, error), opts ...RunOption,
) error {
	o := runOptions{onError: func(ctx context.Context, item any, err error) {
		reportError(ctx, item, err, q.ShuttingDown())
	}}
	for _, opt := range opts {
		opt(&o)
	}
	switch {
	case q == nil:
		return errors.New("workqueue: Run needs a queue, got nil")
	case reconcile == nil:
		return errors.New("workqueue: Run needs a function to reconcile items, got nil")
	case o.onError == nil:
		return errors.New("workqueue: WithErrorHandler needs a function, got nil")
	}
	if o.pool == nil {
		o.pool = new(Pool)
	}
	r := &runner[T]{runOptions: o, q: q, own: AsQueue[T](q), within: within(q), reconcile: reconcile,
		down: make(chan struct{})}
	processing := ctx
	if o.drain || o.grace > 0 {
		processing = context.WithoutCancel(ctx)
	}
	var cancel context.CancelFunc
	r.processing, cancel = context.WithCancel(processing)
	defer cancel()
	r.taking = ctx
	if o.drain {
		r.taking = r.processing
	}

	r.pool.open(r.taking, workers, func(generation int) { r.workers.Go(func() { r.work(generation) }) })
	select {
	case <-r.down:
	case <-ctx.Done():
		if r.own == nil || o.drain {
			q.ShutDown()
		}
	}
	r.pool.close()
	return r.wait(ctx)
}

// RunOption changes what Run does.
type RunOption func(*runOptions)

type runOptions struct {
	grace   time.Duration
	drain   bool
	contain bool
	onError func(ctx context.Context, item any, err error)
	pool    *Pool
}

// WithGrace gives the items in process that much time when the context of Run is done. When the time is
// over, Run ends the context of reconcile and returns an error that wraps context.DeadlineExceeded, even if
// calls of reconcile haven't returned. Without the option, or with 0 or less, the context of reconcile ends
// with that of Run, and Run waits for all calls to return.
func WithGrace(grace time.Duration) RunOption {
	return func(o *runOptions) { o.grace = max(grace, 0) }
}

// WithDrain makes Run shut the queue down when its context is done, and process all items that are ready
// then. An item that fails isn't tried again, and delayed items are dropped. Meanwhile the context of
// reconcile goes on, limited by WithGrace only.
func WithDrain() RunOption { return func(o *runOptions) { o.drain = true } }

// WithContainedPanics turns a panic of reconcile into an error of the item, a *PanicError. Without it a
// panic goes to utilruntime, which ends the program unless it is configured otherwise.
func WithContainedPanics() RunOption { return func(o *runOptions) { o.contain = true } }

// WithErrorHandler makes Run report errors to f instead of utilruntime. Workers call it concurrently,
// before the item's Done.
func WithErrorHandler(f func(ctx context.Context, item any, err error)) RunOption {
	return func(o *runOptions) { o.onError = f }
}

// WithPool makes pool control the number of workers while Run runs.
func WithPool(pool *Pool) RunOption { return func(o *runOptions) { o.pool = pool } }

// runner is the state that the workers of a Run share.
type runner[T comparable] struct {
	runOptions
	q TypedRateLimitingInterface[T]
	// own is the queue behind q, nil if q is another implementation.
	own *queue.Queue[T]
	// within is the queue behind q, also behind a wrapper, whose Get hands out fewer items.
	within    *queue.Queue[T]
	reconcile func(context.Context, T) (Result, error)
	// Workers take items until taking ends. processing is the context of reconcile.
	taking, processing context.Context
	workers            sync.WaitGroup
	// down is closed when a worker has seen the queue shut down and empty.
	down     chan struct{}
	downOnce sync.Once
}

// wait waits for the workers, but only for the grace period once ctx is done.
func (r *runner[T]) wait(ctx context.Context) error {
	if r.grace == 0 {
		r.workers.Wait()
		return nil
	}
	ended := make(chan struct{})
	go func() {
		r.workers.Wait()
		close(ended)
	}()
	select {
	case <-ended:
		return nil
	case <-ctx.Done():
	}
	over := time.NewTimer(r.grace)
	defer over.Stop()
	select {
	case <-ended:
		return nil
	case <-over.C:
		return fmt.Errorf("workqueue: %d items still in process after the grace period of %v: %w",
			r.pool.Busy(), r.grace, context.DeadlineExceeded)
	}
}

// work processes items until the worker has to end. If a reconciler or an error handler ends the goroutine,
// as t.FailNow does, another worker takes its place.
func (r *runner[T]) work(generation int) {
	over := false
	defer func() {
		if !over {
			r.workers.Go(func() { r.work(generation) })
		}
	}()
	for r.takeOne(generation) {
	}
	over = true
}

// takeOne waits for an item and processes it. It returns false if the worker has to end, which the pool no
// longer counts then.
func (r *runner[T]) takeOne(generation int) bool {
	idleCtx, ok := r.pool.idle(generation)
	if !ok {
		return false
	}
	item, err := r.get(idleCtx)
	switch {
	case err == nil:
		r.process(generation, item)
		return true
	case errors.Is(err, queue.ErrShutDown):
		r.downOnce.Do(func() { close(r.down) })
	case r.taking.Err() == nil:
		return true
	}
	r.pool.workerEnded(generation)
	return false
}

// get waits for the next item. It returns an error when ctx ends or the queue is shut down and empty.
func (r *runner[T]) get(ctx context.Context) (T, error) {
	if r.own != nil {
		return r.own.GetContext(ctx)
	}
	var none T
	if err := ctx.Err(); err != nil {
		return none, err
	}
	item, shutdown := r.q.Get()
	if shutdown {
		return none, queue.ErrShutDown
	}
	return item, nil
}

func (r *runner[T]) process(generation int, item T) {
	r.pool.working(generation, 1)
	defer r.pool.working(generation, -1)
	defer r.q.Done(item)
	exits := true
	defer func() {
		if exits {
			r.handleResult(item, Result{}, errGoexit)
		}
	}()
	result, err := r.call(item, func() { exits = false })
	exits = false
	r.handleResult(item, result, err)
}

// handleResult does what follows from the result of an item.
func (r *runner[T]) handleResult(item T, result Result, err error) {
	end := r.processing.Err()
	defer r.note(item, result, err)
	var terminal *terminalError
	switch {
	case err == nil:
		r.q.Forget(item)
		if result.RequeueAfter > 0 {
			r.q.AddAfter(item, result.RequeueAfter)
		}
	case errors.As(err, &terminal):
		r.q.Forget(item)
		r.onError(r.processing, item, err)
	case end != nil && errors.Is(err, end):
		r.q.Add(item)
	default:
		r.q.AddRateLimited(item)
		r.onError(r.processing, item, err)
	}
}

// note notes the result for the item's line, see [queue.Queue.Line].
func (r *runner[T]) note(item T, result Result, err error) {
	var terminal *terminalError
	switch {
	case r.within == nil:
	case r.processing.Err() != nil && errors.Is(err, r.processing.Err()):
		r.within.Note(item, "ended with its context, and added again")
	case errors.As(err, &terminal):
		r.within.NoteError(item, err)
		r.within.Note(item, "given up, as the error is terminal")
	case err != nil:
		r.within.NoteError(item, err)
	case result.RequeueAfter > 0:
		r.within.Note(item, "succeeded, and asked for another run")
	default:
		r.within.Note(item, "succeeded")
	}
}

// call calls reconcile. A panic becomes an error if WithContainedPanics is set or utilruntime doesn't panic
// again; panics is called before that.
func (r *runner[T]) call(item T, panics func()) (result Result, err error) {
	if r.contain {
		defer func() {
			if v := recover(); v != nil {
				result, err = Result{}, &PanicError{Value: v, Stack: debug.Stack()}
			}
		}()
	} else {
		defer utilruntime.HandleCrashWithContext(r.processing, func(context.Context, any) { panics() })
	}
	// call returns errPanic if reconcile panics and HandleCrash returns.
	err = errPanic
	ctx := r.processing
	if r.within != nil {
		ctx = r.within.Context(ctx, item)
	}
	return r.reconcile(ctx, item)
}

var (
	errPanic  = errors.New("workqueue: the reconciler panicked")
	errGoexit = errors.New("workqueue: the reconciler ended its worker by runtime.Goexit, as t.FailNow does; " +
		"another worker takes its place")
)

// PanicError is a panic of reconcile that WithContainedPanics has turned into an error.
type PanicError struct {
	Value any
	// Stack is the goroutine's stack, from debug.Stack.
	Stack []byte
}

func (e *PanicError) Error() string { return fmt.Sprintf("the reconciler panicked: %v", e.Value) }

// Unwrap returns Value if it is an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// Terminal marks err as permanent: Run doesn't try the item again. It returns nil for nil.
func Terminal(err error) error {
	if err == nil {
		return nil
	}
	return &terminalError{err}
}

type terminalError struct{ err error }

func (e *terminalError) Error() string { return e.err.Error() }
func (e *terminalError) Unwrap() error { return e.err }

// reportError reports an error to utilruntime. ended is true if the queue ignores additions.
func reportError(ctx context.Context, item any, err error, ended bool) {
	message := "Reconciling failed; it is tried again"
	if _, terminal := errors.AsType[*terminalError](err); terminal || ended {
		message = "Reconciling failed and is not tried again"
	}
	values := []any{"item", item}
	if p, ok := errors.AsType[*PanicError](err); ok {
		values = append(values, "stack", string(p.Stack))
	}
	utilruntime.HandleErrorWithContext(ctx, err, message, values...)
}
