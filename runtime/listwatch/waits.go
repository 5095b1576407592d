package listwatch

import "context"

type waitsKey struct{}

// WithWaits returns a context for List, Watch and a stream's Next, with which a
// source says that it waits for its [Limiter], for a place or for the budget, and
// asks nothing of the server meanwhile. It calls wait(true) when that begins and
// wait(false) when it ends, in the goroutine that reads. Who doesn't wait calls
// nothing.
func WithWaits(ctx context.Context, wait func(begins bool)) context.Context {
	return context.WithValue(ctx, waitsKey{}, wait)
}

// waits says that a wait begins; it ends with the function that is returned.
func waits(ctx context.Context) (end func()) {
	wait, ok := ctx.Value(waitsKey{}).(func(bool))
	if !ok {
		return func() {}
	}
	wait(true)
	return func() { wait(false) }
}
