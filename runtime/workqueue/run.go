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

// Result is what a reconciler that succeeded asks for.
type Result struct {
	// RequeueAfter is when the item is to be processed again, not at all
	// unless it is more than 0.
	RequeueAfter time.Duration
}

// Run processes the items of q with so many workers until ctx is done, or
// until q has been shut down and is empty. It returns when all workers have
// ended, nil unless the time of WithGrace was over before that. A queue or a
// function that is nil is an error, at once. Fewer than 0
// workers are 0: then nothing is processed, and a shutdown isn't noticed, until
// the Pool of WithPool has others; without one Run waits for ctx.
//
// For each item reconcile is called, and then
//
//	error               the item is ...
//	nil                 forgotten by the limiter, and added again after the
//	                    result's RequeueAfter if it has one
//	of Terminal         forgotten by the limiter, and the error reported
//	ctx's, at the end   added again
//	any other           added again as the limiter has it, and the error reported
//
// and Done in any case. A queue that has been shut down, as WithDrain does,
// ignores what is added: nothing is tried again then. Errors are reported to utilruntime, and panics go
// where it sends them; options change both. When ctx is done no further item
// is taken and the context of the reconcilers ends too, at once or as the
// options have it.
//
// q stays as it is and can be run again, but for another implementation than
// this package's, whose Get can't be interrupted: that is shut down when ctx is
// done.
func Run[T comparable](ctx context.Context, q TypedRateLimitingInterface[T], workers int, reconcile func(context.Context, T) (Result, error), opts ...RunOption) error {
	o := runOptions{onError: func(ctx context.Context, item any, err error) { reportError(ctx, item, err, q.ShuttingDown()) }}
	for _, opt := range opts {
		opt(&o)
	}
	switch {
	case q == nil:
		return errors.New("workqueue: there is no queue to run, it is nil")
	case reconcile == nil:
		return errors.New("workqueue: there is no function to reconcile items with, it is nil")
	case o.onError == nil:
		return errors.New("workqueue: the function of WithErrorHandler is nil; without the option, errors go to utilruntime")
	}
	if o.pool == nil {
		o.pool = new(Pool)
	}
	r := &runner[T]{runOptions: o, q: q, own: Unwrap[T](q), reconcile: reconcile, down: make(chan struct{})}
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

	r.pool.open(r.taking, workers, func(run int) { r.workers.Go(func() { r.work(run) }) })
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

// runner is what the workers of a Run share.
type runner[T comparable] struct {
	runOptions
	q         TypedRateLimitingInterface[T]
	own       *queue.Queue[T]
	reconcile func(context.Context, T) (Result, error)
	// taking ends when no further item is to be taken, processing when those
	// taken are to be given up.
	taking, processing context.Context
	workers            sync.WaitGroup
	// down is closed when the queue says that it has been shut down.
	down     chan struct{}
	downOnce sync.Once
}

// wait waits for the workers, and no longer than the grace once ctx is done.
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
		return fmt.Errorf("workqueue: %d items still in process %v after the end: %w", r.pool.Busy(), r.grace, context.DeadlineExceeded)
	}
}

func (r *runner[T]) work(run int) {
	tooMany := false
	// Also when the reconciler ends the goroutine, as t.FailNow does.
	defer func() {
		if !tooMany {
			r.pool.left(run)
		}
	}()
	for {
		wait, ok := r.pool.waiting(run)
		if !ok {
			tooMany = true
			return
		}
		item, err := r.get(wait)
		switch {
		case err == nil:
			r.process(run, item)
		case errors.Is(err, ErrShutDown):
			r.downOnce.Do(func() { close(r.down) })
			return
		case r.taking.Err() != nil:
			return
		}
	}
}

// get returns the next item, and an error when ctx ends or at a shutdown.
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
		return none, ErrShutDown
	}
	return item, nil
}

func (r *runner[T]) process(run int, item T) {
	r.pool.working(run, 1)
	defer r.pool.working(run, -1)
	defer r.q.Done(item)
	result, err := r.call(item)
	end := r.processing.Err()
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

// call calls reconcile. A panic either goes on, or it is an error: when it is
// contained, and when utilruntime is set to survive it.
func (r *runner[T]) call(item T) (result Result, err error) {
	if r.contain {
		defer func() {
			if v := recover(); v != nil {
				result, err = Result{}, &PanicError{Value: v, Stack: debug.Stack()}
			}
		}()
	} else {
		defer utilruntime.HandleCrashWithContext(r.processing)
	}
	err = errPanic
	return r.reconcile(r.processing, item)
}

var errPanic = errors.New("workqueue: the reconciler panicked")

// PanicError is a panic of a reconciler that was contained.
type PanicError struct {
	Value any
	// Stack is that of the goroutine, as of debug.Stack.
	Stack []byte
}

func (e *PanicError) Error() string { return fmt.Sprintf("the reconciler panicked: %v", e.Value) }

// Unwrap returns the value if it is an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// Terminal marks an error as one that trying again doesn't help. It returns
// nil for nil.
func Terminal(err error) error {
	if err == nil {
		return nil
	}
	return &terminalError{err}
}

type terminalError struct{ err error }

func (e *terminalError) Error() string { return e.err.Error() }
func (e *terminalError) Unwrap() error { return e.err }

// reportError is what Run does with errors, ended tells that the queue takes
// nothing more.
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
