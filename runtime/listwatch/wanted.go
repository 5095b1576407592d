package listwatch

import "context"

type wantedKey struct{}

// WithWanted returns a context for lists and watches. Where their responses are decoded as they arrive,
// objects that aren't wanted are skipped, nearly always before they take memory: a list leaves them out, and
// a watch has a bookmark of their version in place of their event. Elsewhere, as where the client decodes and
// from fakes, all objects arrive: the reader has to look at them itself. wanted is called at least once for
// each object that is skipped or decoded as it arrives.
func WithWanted(ctx context.Context, wanted func(namespace, uid string) bool) context.Context {
	return context.WithValue(ctx, wantedKey{}, wanted)
}

// wantedIn returns what is wanted in a context, for the decoder, nil for everything.
func wantedIn(ctx context.Context) func(namespace, uid string) bool {
	wanted, _ := ctx.Value(wantedKey{}).(func(namespace, uid string) bool)
	return wanted
}
