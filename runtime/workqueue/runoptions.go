package workqueue

import (
	"context"
	"time"
)

// RunOption changes what Run does.
type RunOption func(*runOptions)

type runOptions struct {
	grace   time.Duration
	drain   bool
	contain bool
	onError func(ctx context.Context, item any, err error)
	pool    *Pool
}

// WithGrace gives the items in process that much time when the context of Run
// is done: until then the context of the reconcilers lives on, and then Run
// ends it and returns an error that is context.DeadlineExceeded, whether they
// have returned or not. 0 or less is no grace: the context of the reconcilers
// ends at once, and Run waits for them however long they take.
func WithGrace(grace time.Duration) RunOption {
	return func(o *runOptions) { o.grace = max(grace, 0) }
}

// WithDrain makes Run shut the queue down when its context is done, and process
// all that is ready then, each item once: one that fails isn't tried again, and
// what was delayed is forgotten. The context of the reconcilers lives on meanwhile, as
// long as WithGrace allows, without it as long as they take.
func WithDrain() RunOption { return func(o *runOptions) { o.drain = true } }

// WithContainedPanics makes a panic of the reconciler an error of its item, a
// *PanicError. Without it a panic goes to utilruntime, which ends the program
// unless it is set otherwise.
func WithContainedPanics() RunOption { return func(o *runOptions) { o.contain = true } }

// WithErrorHandler makes Run report errors to f, in place of utilruntime. It is
// called by the workers, before the item's Done.
func WithErrorHandler(f func(ctx context.Context, item any, err error)) RunOption {
	return func(o *runOptions) { o.onError = f }
}

// WithPool lets pool show and change the number of workers while Run runs.
func WithPool(pool *Pool) RunOption { return func(o *runOptions) { o.pool = pool } }
