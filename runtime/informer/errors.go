package informer

import (
	"errors"
	"fmt"
	"reflect"

	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/runtime/internal/shell"
)

// What client-go's interfaces have no place for is reached by functions, which find
// out whether an informer can do it: what generated code returns can, an informer
// of another make can't.

// ErrUnsupportedInformer is returned for an informer that isn't of this package.
var ErrUnsupportedInformer = errors.New("the informer is of another make")

// ErrStopped is what a wait returns when the informer stops before what it waits
// for.
var ErrStopped = errors.New("the informer has stopped")

// errNil is returned for no informer at all, rather than a panic.
var errNil = errors.New("the informer is nil: pass what a constructor or a factory's Informer returned")

// errNoFunction is returned for a function that is nil, rather than a panic at its
// first call.
var errNoFunction = errors.New("there is no function to call, it is nil")

// isNil says whether there is no informer, or one seen as typed that isn't there.
func isNil(i cache.SharedInformer) bool { return shell.Innermost(i) == nil }

// unsupported is why an informer can't do what only those of this package can.
func unsupported(i cache.SharedInformer) error {
	if isNil(i) {
		return errNil
	}
	return ErrUnsupportedInformer
}

// notOfType is why an informer doesn't have objects of type T, as [CoreOf] gives them.
func notOfType[T any](i cache.SharedInformer) error {
	if s, ok := shell.As[*shared[cache.ObjectName]](i); ok {
		return fmt.Errorf("the informer holds %s, not %s", s.core.config.keys.Type, reflect.TypeFor[T]())
	}
	return unsupported(i)
}
