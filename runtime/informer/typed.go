package informer

import (
	"context"
	"iter"
	"reflect"

	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/runtime/internal/unwrap"
)

// Typed gives typed access to what a generated informer offers beyond client-go's
// interface. Its methods are safe for concurrent use.
//
// Objects are shared with the cache and must not be modified. All of them are of
// type T: the informer refuses an object of another type that comes from a list, an
// event, a transform or a write to its indexer. Only informers of the packages
// dynamicinformer and metadatainformer store what a transform makes of them; methods
// and loops panic at an object of another type.
type Typed[T cache.Object] struct{ core core }

// core is the untyped informer behind a generated one. Its methods are documented at those of [Typed].
type core interface {
	reporter
	adder
	// ObjectType returns the type of all objects.
	ObjectType() reflect.Type
	Get(name cache.ObjectName) (obj any, ok bool)
	List() []any
	All() iter.Seq2[cache.ObjectName, any]
	Snapshot() (resourceVersion string, objects iter.Seq2[cache.ObjectName, any])
	Events(ctx context.Context) iter.Seq[Event[any]]
	AddIndexes(functions map[string]func(any) []string) error
	// IndexField is the function IndexField.
	IndexField(field string, values func(any) []string) error
	SetTransform(transform cache.TransformFunc) error
}

// Of returns the typed access to a generated informer of objects of type T. ok is false if
// the informer is of another type or was not made by generated code.
func Of[T cache.Object](i cache.SharedInformer) (typed Typed[T], ok bool) {
	untyped, ok := coreOf(i)
	if !ok || untyped.ObjectType() != reflect.TypeFor[T]() {
		return typed, false
	}
	return Typed[T]{untyped}, true
}

func coreOf(i cache.SharedInformer) (core, bool) { return unwrap.As[core](i) }

// Get returns the object with that name; ok is false if there is none.
func (c Typed[T]) Get(name cache.ObjectName) (obj T, ok bool) {
	cached, ok := c.core.Get(name)
	if ok {
		obj = cached.(T)
	}
	return obj, ok
}

// List returns every object, in no particular order.
func (c Typed[T]) List() []T {
	list := c.core.List()
	typed := make([]T, len(list))
	for n, obj := range list {
		typed[n] = obj.(T)
	}
	return typed
}

// All yields every object by its name, in no particular order. It shows the cache as
// it is when the loop starts. It copies nothing, and the cache may change during the
// loop.
func (c Typed[T]) All() iter.Seq2[cache.ObjectName, T] {
	return typedSeq[T](c.core.All())
}

func typedSeq[T cache.Object](all iter.Seq2[cache.ObjectName, any]) iter.Seq2[cache.ObjectName, T] {
	return func(yield func(cache.ObjectName, T) bool) {
		for name, obj := range all {
			if !yield(name, obj.(T)) {
				return
			}
		}
	}
}

// Snapshot returns the current contents of the cache, and the resourceVersion of the collection that they
// reflect, which is "" before the first list. objects may be iterated any number of times. While it is
// referenced, objects that the cache has replaced or deleted since stay in memory.
func (c Typed[T]) Snapshot() (resourceVersion string, objects iter.Seq2[cache.ObjectName, T]) {
	resourceVersion, all := c.core.Snapshot()
	return resourceVersion, typedSeq[T](all)
}

// Events returns the changes of the cache, for a loop over them:
//
//	typed, _ := informer.Of[*v1.Bakery](i)
//	for event := range typed.Events(ctx) {
//		switch event.Type {
//		...
//		}
//	}
//
// The loop receives the same events, in the same order, as a handler that is added when the loop begins:
// first the contents of the cache, then Synced, then every change. The body runs on the caller's goroutine. A
// slow body delays no handler; the events that wait for it are the backlog of the handler in [Status] that is
// named "events", with the line of the call of Events. A panic of the body propagates to the caller.
//
// The loop ends when its body breaks, when ctx is done, or when the informer stops; ctx.Err distinguishes the
// last two. Each range statement registers anew, and several loops may run at a time.
func (c Typed[T]) Events(ctx context.Context) iter.Seq[Event[T]] {
	events := c.core.Events(ctx) // It finds the caller.
	return func(yield func(Event[T]) bool) {
		for e := range events {
			var object, old T
			if e.Object != nil { // Synced has none.
				object = e.Object.(T)
			}
			if e.Old != nil { // Only updates have one.
				old = e.Old.(T)
			}
			if !yield(Event[T]{Type: e.Type, Object: object, Old: old, Initial: e.Initial,
				Missed: e.Missed}) {
				return
			}
		}
	}
}

// AddEventHandler adds a typed handler with the options of this package. It returns an error if the handler
// is nil or the informer has stopped.
func (c Typed[T]) AddEventHandler(
	handler cache.TypedResourceEventHandler[T], options HandlerOptions,
) (cache.ResourceEventHandlerRegistration, error) {
	if handler == nil {
		return c.core.AddHandler(nil, options)
	}
	return c.core.AddHandler(&unwrap.TypedHandler[T]{Handler: handler}, options)
}

// AddIndexes adds indexes, at any time before the informer has stopped. It returns an
// error and adds none if a name is taken or a function is nil. The functions compute the values of an object:
// none, one or several. They must be deterministic and safe for concurrent use. They may read the cache, but
// must not write to it, or add handlers or indexes.
func (c Typed[T]) AddIndexes(indexes map[string]func(T) []string) error {
	untyped := make(map[string]func(any) []string, len(indexes))
	for name, values := range indexes {
		untyped[name] = untypedIndex(values)
	}
	return c.core.AddIndexes(untyped)
}

// SetTransform makes the informer pass every object to transform before it is stored. transform owns the
// object and may change it, but with [informer.Options].ShareValues it must not write into the
// object's maps, slices and pointees.
//
// A nil object isn't cached: if an older state of it is, that is deleted. If the namespace or name changes,
// the object has the new key in the cache. Of two objects that get one key, the later one is cached, and the
// deletion of either deletes it.
//
// If transform returns an error, a list that is read in pages fails as a whole and is retried, as with
// client-go's informers. In a watch-list or a watch, the event is skipped, and the cache keeps the state
// before it. A deleted object leaves the cache even then: handlers receive its last known state in a
// DeletedFinalStateUnknown. The error is logged and becomes Status.LastError.
//
// An informer of a part calls transform from several goroutines at once; others call it from one at a time.
//
// SetTransform returns an error after the start.
func (c Typed[T]) SetTransform(transform func(T) (T, error)) error {
	if transform == nil {
		return c.core.SetTransform(nil)
	}
	return c.core.SetTransform(func(obj any) (any, error) { return transform(obj.(T)) })
}

// Status returns the state of the informer.
func (c Typed[T]) Status() Status { return c.core.Status() }
