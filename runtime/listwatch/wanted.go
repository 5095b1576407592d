package listwatch

import "context"

type wantedKey struct{}

// WithWanted returns a context for lists and watches. Where their responses are decoded as they arrive,
// objects that aren't wanted are skipped, nearly always before they take memory: a list leaves them out, and
// a watch has a bookmark of their version in place of their event. Otherwise (the client decodes, or the
// source is a fake) all objects arrive, and the reader has to check them itself. wanted is called at least
// once for each object that is skipped or decoded as it arrives.
func WithWanted(ctx context.Context, wanted func(namespace, uid string) bool) context.Context {
	return context.WithValue(ctx, wantedKey{}, wanted)
}

// wantedIn returns the function of WithWanted in a context, nil if all objects are wanted.
func wantedIn(ctx context.Context) func(namespace, uid string) bool {
	wanted, _ := ctx.Value(wantedKey{}).(func(namespace, uid string) bool)
	return wanted
}
