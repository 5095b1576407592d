package informer

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	"k8s.io/client-go/tools/cache"
)

// What client-go's interfaces can't say is reached by functions, which find out
// whether an informer can do it: whatever generated code returns can, an informer
// of another make can't.

// ErrOfAnotherMake is returned for an informer that isn't of this package.
var ErrOfAnotherMake = errors.New("the informer is of another make")

// errNil is returned for no informer at all, rather than a panic.
var errNil = errors.New("the informer is nil: pass what a constructor or a factory's Informer returned")

// errNoFunction is better than a panic when the function would be called.
var errNoFunction = errors.New("there is no function to call, it is nil")

// notOfType is why an informer doesn't have objects of type T as [Of] gives them.
func notOfType[T any](i cache.SharedInformer) error {
	if shared, ok := as[*Shared[cache.ObjectName, any]](i); ok {
		return fmt.Errorf("the informer holds %s, not %s", shared.keys.typeName(), reflect.TypeFor[T]())
	}
	return notOurs(i)
}

// isNil says whether there is no informer, or one seen as typed that isn't there.
func isNil(i cache.SharedInformer) bool { return innermost(i) == nil }

// notOurs is why an informer can't do what only those of this package can.
func notOurs(i cache.SharedInformer) error {
	if isNil(i) {
		return errNil
	}
	return ErrOfAnotherMake
}

// Bequeath returns a function that makes another informer, which has not been
// started, take over an informer's identity in metrics. It is for who replaces
// an informer that has stopped by a new one of the same kind. Of informers of
// another make there is nothing to take.
func Bequeath(i cache.SharedInformer) (to func(cache.SharedInformer)) {
	from, ok := as[identified](i)
	if !ok {
		return func(cache.SharedInformer) {}
	}
	identifier := from.identifier()
	return func(heir cache.SharedInformer) {
		if heir, ok := as[identified](heir); ok {
			heir.identify(identifier)
		}
	}
}

type identified interface {
	identifier() func() cache.InformerNameAndResource
	identify(func() cache.InformerNameAndResource)
}

func (s *Shared[K, T]) identifier() func() cache.InformerNameAndResource {
	s.core.mu.Lock()
	defer s.core.mu.Unlock()
	return s.core.config.Identifier
}

func (s *Shared[K, T]) identify(identifier func() cache.InformerNameAndResource) {
	// Who has started has its identity.
	_ = s.core.beforeStart(func() { s.core.config.Identifier = identifier })
}

// WaitFor waits until what i caches shows a version, see [Informer.WaitFor].
func WaitFor(ctx context.Context, i cache.SharedInformer, resourceVersion string) error {
	waiter, ok := as[interface {
		WaitFor(context.Context, string) error
	}](i)
	if !ok {
		return fmt.Errorf("wait for a version of %T: %w", i, notOurs(i))
	}
	return waiter.WaitFor(ctx, resourceVersion)
}

// AddEventHandler is i.AddEventHandlerWithOptions with the options of this
// package. A handler that is nil is an error; client-go's method takes it, here
// as there, and panics at the first event.
func AddEventHandler(i cache.SharedInformer, handler cache.ResourceEventHandler, options HandlerOptions) (cache.ResourceEventHandlerRegistration, error) {
	ours, ok := as[adder](i)
	if !ok {
		return nil, fmt.Errorf("add a handler to %T: %w", i, notOurs(i))
	}
	if handler == nil {
		return nil, fmt.Errorf("add a handler to %T: the handler is nil", i)
	}
	return ours.AddHandler(handler, options)
}
