package informer

import (
	"errors"
	"fmt"
	"reflect"

	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/runtime/internal/shell"
)

// ErrUnsupportedInformer is returned for an informer that was not made by this package:
// the functions that go beyond client-go's interfaces can't work with it.
var ErrUnsupportedInformer = errors.New("the informer is none of kubewright's")

// ErrStopped is returned by a wait if the informer stops first.
var ErrStopped = errors.New("the informer has stopped")

// errNil is returned for an informer that is nil.
var errNil = errors.New("the informer is nil: pass what a constructor or a factory's Informer returned")

// errNoFunction is returned for a function that is nil, in place of a panic at its
// first call.
var errNoFunction = errors.New("there is no function to call, it is nil")

// errNilHandler is returned for a handler that is nil, in place of a panic at its first
// event.
var errNilHandler = errors.New("the handler is nil")

// isNil says whether an informer, or the one inside of a typed one, is nil.
func isNil(i cache.SharedInformer) bool { return shell.Innermost(i) == nil }

// unsupported returns the error for an informer that isn't one of this package.
func unsupported(i cache.SharedInformer) error {
	if isNil(i) {
		return errNil
	}
	return ErrUnsupportedInformer
}

// notOfType returns the error for an informer of which [CoreOf] has no Core[T].
func notOfType[T any](i cache.SharedInformer) error {
	if s, ok := shell.As[*shared[cache.ObjectName]](i); ok {
		return fmt.Errorf("the informer holds %s, not %s", s.core.config.keys.Type, reflect.TypeFor[T]())
	}
	return unsupported(i)
}
