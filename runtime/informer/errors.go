package informer

import (
	"errors"
	"fmt"
	"reflect"

	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/runtime/internal/unwrap"
)

// ErrUnsupportedInformer is returned for an informer that was not made by this module:
// the functions that go beyond client-go's interfaces can't work with it.
var ErrUnsupportedInformer = errors.New("the informer was not made by kubewright")

// ErrStopped is returned by a wait if the informer stops first.
var ErrStopped = errors.New("the informer has stopped")

// ErrTooLate is the error of options that come after the start of an informer, or after the first informer of
// a factory was made.
var ErrTooLate = errors.New("too late")

// ErrWritesNotTracked is returned for an informer whose client doesn't record the writes made through it,
// because it isn't a generated client, or a wrapper hides it.
var ErrWritesNotTracked = errors.New("the informer's client doesn't record its writes")

// errNoStreams is returned for sources whose client decodes the objects.
var errNoStreams = errors.New("the informer's source doesn't decode objects itself")

// errNil is returned for an informer that is nil.
var errNil = errors.New("the informer is nil: pass what a constructor or a factory's Informer returned")

// errNoFunction is returned for a nil function, in place of a panic at its first call.
var errNoFunction = errors.New("the function is nil")

// isNil reports whether an informer, or the one inside a typed informer, is nil.
func isNil(i cache.SharedInformer) bool { return unwrap.Innermost(i) == nil }

// unsupported returns the error for an informer that isn't one of this module.
func unsupported(i cache.SharedInformer) error {
	if isNil(i) {
		return errNil
	}
	return ErrUnsupportedInformer
}

// notOfType returns the error for an informer for which [Of] returns no Typed[T].
func notOfType[T any](i cache.SharedInformer) error {
	if untyped, ok := coreOf(i); ok {
		return fmt.Errorf("the informer is of %s, not %s", untyped.ObjectType(), reflect.TypeFor[T]())
	}
	return unsupported(i)
}
