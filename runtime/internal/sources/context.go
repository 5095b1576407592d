package sources

import "context"

type (
	waitsKey  struct{}
	wantedKey struct{}
)

// WithWaits returns a context for Source.List, Source.Watch and Stream.Next. They call wait(true) when they
// begin to wait for a slot or for the budget of a limiter, and wait(false) when that wait ends. Both calls
// are in the goroutine of the caller. While they wait they send no requests.
func WithWaits(ctx context.Context, wait func(begins bool)) context.Context {
	return context.WithValue(ctx, waitsKey{}, wait)
}

// Waits reports the begin of a wait to the function of [WithWaits]. The caller calls end when it is over.
func Waits(ctx context.Context) (end func()) {
	wait, ok := ctx.Value(waitsKey{}).(func(bool))
	if !ok {
		return func() {}
	}
	wait(true)
	return func() { wait(false) }
}

// WithWanted returns a context for lists and watches. Where their responses are decoded as they arrive,
// objects that aren't wanted are skipped, nearly always before they take memory: a list leaves them out, and
// a watch has a bookmark of their version in place of their event. Otherwise (the client decodes, or the
// source is a fake) all objects arrive, and the reader has to check them itself. wanted is called at least
// once for each object that is skipped or decoded as it arrives.
func WithWanted(ctx context.Context, wanted func(namespace, uid string) bool) context.Context {
	return context.WithValue(ctx, wantedKey{}, wanted)
}

// Wanted returns the function of [WithWanted], nil if every object is wanted.
func Wanted(ctx context.Context) func(namespace, uid string) bool {
	wanted, _ := ctx.Value(wantedKey{}).(func(namespace, uid string) bool)
	return wanted
}
