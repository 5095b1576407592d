package informer

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"reflect"

	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/runtime/internal/shell"
)

// Core gives typed access to all that an informer that generated code returned
// offers beyond client-go's interface. Its methods are safe for concurrent use.
//
// Objects are shared with the cache and must not be modified. All of them are of
// type T: the informer refuses others that a list, an event, a transform or a
// write to its indexer brings.
type Core[T cache.Object] struct {
	informer *informer[cache.ObjectName]
	shared   *shared[cache.ObjectName]
}

// CoreOf returns the core of an informer of objects of type T that generated code
// returned. ok is false if it is of another make, or of another type.
func CoreOf[T cache.Object](i cache.SharedInformer) (core Core[T], ok bool) {
	s, ok := shell.As[*shared[cache.ObjectName]](i)
	if !ok || s.core.config.keys.Type != reflect.TypeFor[T]() {
		return core, false
	}
	return Core[T]{s.core, s}, true
}

// Get returns the object of a name.
func (c Core[T]) Get(name cache.ObjectName) (obj T, ok bool) {
	cached, ok := c.informer.store.Get(name)
	if ok {
		obj = cached.(T)
	}
	return obj, ok
}

// List returns every object, in no particular order.
func (c Core[T]) List() []T {
	list, _ := typedObjects[T](c.informer.store.List(), nil)
	return list
}

// All yields every object by its name, in no particular order, as they are when
// the loop starts. It copies none of them, and the cache may change meanwhile.
func (c Core[T]) All() iter.Seq2[cache.ObjectName, T] {
	return func(yield func(cache.ObjectName, T) bool) {
		for name, obj := range c.informer.store.All() {
			if !yield(name, obj.(T)) {
				return
			}
		}
	}
}

// Snapshot returns what the cache holds now, and the resourceVersion of the
// collection that it shows, "" before the first list. The objects may be iterated
// any number of times. While they are held, those that the cache has replaced
// since stay in memory.
func (c Core[T]) Snapshot() (resourceVersion string, objects iter.Seq2[cache.ObjectName, T]) {
	s := c.informer.store.Snapshot()
	return s.ResourceVersion(), func(yield func(cache.ObjectName, T) bool) {
		for name, obj := range s.All() {
			if !yield(name, obj.(T)) {
				return
			}
		}
	}
}

// Events returns the changes of the cache, for a loop over them:
//
//	for event := range core.Events(ctx) {
//		switch event.Type {
//		...
//		}
//	}
//
// The loop gets what a handler would get that is added when it begins, in the
// same order: first what the cache holds, then Synced, then every change. Its
// body runs on the caller's goroutine, which reads the informer's log directly;
// a slow body delays nobody, and what waits for it is the backlog of the handler
// called "events" in [Status]. A panic of the body goes to the caller.
//
// It ends at once when its body breaks, else when ctx is done, which ctx.Err
// tells, or when the informer stops. Each range over it is a loop of its own;
// several may run at a time.
func (c Core[T]) Events(ctx context.Context) iter.Seq[Event[T]] {
	return func(yield func(Event[T]) bool) {
		for e := range c.informer.events(ctx) {
			// There is no old object but of updates, and none of Synced.
			object, _ := e.Object.(T)
			old, _ := e.Old.(T)
			if !yield(Event[T]{Type: e.Type, Object: object, Old: old, Initial: e.Initial, Missed: e.Missed}) {
				return
			}
		}
	}
}

// AddEventHandler registers a typed handler with the options of this package. A
// handler that is nil is an error.
func (c Core[T]) AddEventHandler(handler cache.TypedResourceEventHandler[T], options HandlerOptions) (cache.ResourceEventHandlerRegistration, error) {
	if handler == nil {
		return nil, fmt.Errorf("add a handler to the informer of %s: the handler is nil", c.informer.config.typeName)
	}
	options.Name = cmp.Or(options.Name, typedHandlerName(handler))
	return c.shared.AddHandler(&converting[T]{handler}, options)
}

// AddIndexes adds indexes, at any time before the informer has stopped. It adds
// none of them if one of the names is taken, or one of the functions nil.
func (c Core[T]) AddIndexes(indexes map[string]IndexFunc[T]) error {
	return c.informer.beforeStop(func() error { return c.informer.store.AddIndexes(untypedIndexes(indexes)) })
}

// SetTransform makes every object pass through transform before it is stored.
// transform owns the object and may change it. An object that it fails for is
// reported and not stored. It is an error after the start.
func (c Core[T]) SetTransform(transform func(T) (T, error)) error {
	if transform == nil {
		return c.informer.SetTransform(nil)
	}
	return c.informer.SetTransform(func(obj any) (any, error) { return transform(obj.(T)) })
}

// Status says how the informer is doing.
func (c Core[T]) Status() Status { return c.informer.Status() }
