package informer

import (
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"time"

	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/kubewright/kubewright/runtime/internal/shell"
)

// handler is notified of every change of an informer's store, one call at a time,
// in the order in which the store changed. Objects are shared with the store
// and with other handlers: they must not be modified.
type handler[K comparable] interface {
	// OnAdd is called for a new object. isInInitialList is true for objects of the
	// first list, and for those that the store held when the handler was registered.
	OnAdd(obj any, isInInitialList bool)
	// OnUpdate is called for an object that replaced another. States in between may have been missed. In a
	// resync both are the same.
	OnUpdate(oldObj, newObj any)
	// OnDelete is called for an object that was deleted or released.
	OnDelete(gone deletion[K])
}

// deletion describes a deleted or released object.
type deletion[K comparable] struct {
	// Object is the state in which the server deleted the object or, if Missed or
	// Released is set or that state isn't one of this key, the last state in the store.
	Object any
	// Missed is set if the last state of the object is unknown: a list no longer contained the object, or the
	// transform failed for it.
	Missed bool
	// Released is set if the object wasn't deleted, but left the ranges of an informer with a [Part].
	Released bool
	// Key is the key of the object. It is set only if Missed is.
	Key K
}

// HandlerOptions are the options of a registration. The zero value registers the handler
// as client-go does.
type HandlerOptions struct {
	// Name names the handler in logs, in [HandlerStatus] and in its HasSyncedChecker.
	// The default is made from its type or the names of its functions.
	Name string
	// Logger gets warnings about the handler. The default is klog.Background().
	Logger *klog.Logger
	// ResyncPeriod is the interval at which the handler receives an update of every object in the store. Zero
	// means never, nil means the informer's default. A shorter period is raised to one second and to the
	// period in which the informer checks for due resyncs, which is fixed when it starts. A period has no
	// effect if the informer's own is zero.
	ResyncPeriod *time.Duration
	// Coalesce bounds the backlog by the number of objects: changes of an object that the handler has not
	// received yet are merged into one. The handler then receives the latest state of each object, in the
	// order in which the objects first changed, but not every state in between. An object that was created
	// and deleted meanwhile is not reported. One that was deleted and created again is reported as a deletion
	// and an addition.
	Coalesce bool
	// ContainPanics makes a panic of the handler an error that utilruntime handles,
	// with the handler's name, whether or not utilruntime is configured to survive
	// panics. The next notification follows at once. [HandlerStatus] counts panics
	// with and without ContainPanics.
	ContainPanics bool
}

// clientGoHandler adapts a client-go handler: missed deletions become client-go's tombstones.
type clientGoHandler[K comparable] struct {
	handler cache.ResourceEventHandler
	key     func(K) string
}

func (h clientGoHandler[K]) OnAdd(obj any, isInInitialList bool) {
	h.handler.OnAdd(obj, isInInitialList)
}

func (h clientGoHandler[K]) OnUpdate(oldObj, newObj any) { h.handler.OnUpdate(oldObj, newObj) }

func (h clientGoHandler[K]) OnDelete(gone deletion[K]) {
	switch {
	case gone.Released:
		if h, ok := h.handler.(releaseHandler[any]); ok {
			h.OnRelease(gone.Object)
		}
	case gone.Missed:
		h.handler.OnDelete(cache.DeletedFinalStateUnknown{Key: h.key(gone.Key), Obj: gone.Object})
	default:
		h.handler.OnDelete(gone.Object)
	}
}

// releaseHandler is a handler that is notified of objects that leave an informer with a [Part].
type releaseHandler[T any] interface{ OnRelease(obj T) }

// typedHandler converts objects from any for a typed handler. It panics at an object of
// another type.
type typedHandler[T cache.Object] struct {
	handler cache.TypedResourceEventHandler[T]
}

func (h *typedHandler[T]) OnAdd(obj any, isInInitialList bool) {
	h.handler.OnAdd(obj.(T), isInInitialList)
}

func (h *typedHandler[T]) OnUpdate(oldObj, newObj any) {
	h.handler.OnUpdate(oldObj.(T), newObj.(T))
}

func (h *typedHandler[T]) OnDelete(obj any) {
	tombstone := tombstoneOf(obj)
	if tombstone == nil {
		h.handler.OnDelete(cache.DeletedObject[T]{OptionalObj: obj.(T)})
		return
	}
	deleted := cache.DeletedObject[T]{FinalStateUnknown: tombstone}
	if tombstone.Obj != nil {
		deleted.OptionalObj = tombstone.Obj.(T)
	}
	h.handler.OnDelete(deleted)
}

func (h *typedHandler[T]) OnRelease(obj any) {
	if h, ok := h.handler.(releaseHandler[T]); ok {
		h.OnRelease(obj.(T))
	}
}

// tombstoneOf returns a copy of obj if it is a tombstone, else nil.
func tombstoneOf(obj any) *cache.DeletedFinalStateUnknown {
	tombstone, ok := obj.(cache.DeletedFinalStateUnknown)
	if !ok {
		return nil
	}
	copied := tombstone
	return &copied
}

// handlerName names a handler as client-go does: by its functions if it is one of
// client-go's sets of functions, typed or not, else by its type. The wrapper of client-go's
// own typed informers is skipped, and so is one that has a method Unwrap.
func handlerName(handler any) string {
	if outer, ok := handler.(interface {
		Unwrap() cache.ResourceEventHandler
	}); ok {
		handler = outer.Unwrap()
	}
	return nameOfHandler(reflect.ValueOf(handler))
}

func nameOfHandler(handler reflect.Value) string {
	v := reflect.Indirect(handler)
	if !v.IsValid() || v.Type().PkgPath() != reflect.TypeFor[cache.ResourceEventHandlerFuncs]().PkgPath() {
		return typeName(handler)
	}
	switch name, _, _ := strings.Cut(v.Type().Name(), "["); name {
	case "ResourceEventHandlerFuncs", "TypedResourceEventHandlerFuncs":
		return functionNames(
			handler, v.FieldByName("AddFunc"), v.FieldByName("UpdateFunc"), v.FieldByName("DeleteFunc"))
	case "typedResourceEventHandler":
		if inside := v.FieldByName("handler"); inside.IsValid() {
			return nameOfHandler(inside.Elem())
		}
	}
	return typeName(handler)
}

// typeName returns the name of a handler's type, or of the type that it points to,
// with the path of the package. A type without a name is printed as %T prints it.
func typeName(handler reflect.Value) string {
	if !handler.IsValid() {
		return fmt.Sprintf("%T", nil)
	}
	t := handler.Type()
	if t.Kind() == reflect.Pointer && !handler.IsNil() {
		t = t.Elem()
	}
	name := t.Name()
	if path := t.PkgPath(); path != "" {
		name = path + "." + name
	}
	if name == "" {
		return handler.Type().String()
	}
	return name
}

// functionNames returns the function or type in which all the functions are declared, or
// all their names if there is no single one.
func functionNames(handler reflect.Value, functions ...reflect.Value) string {
	var names, qualifiers []string
	for _, function := range functions {
		f := runtime.FuncForPC(function.Pointer())
		if f == nil {
			continue
		}
		name := f.Name()
		qualifier := name
		if dot := strings.LastIndexByte(name, '.'); dot > 0 {
			qualifier = name[:dot]
		}
		names = append(names, name)
		if !slices.Contains(qualifiers, qualifier) {
			qualifiers = append(qualifiers, qualifier)
		}
	}
	switch len(qualifiers) {
	case 0:
		return handler.Type().String()
	case 1:
		return qualifiers[0]
	default:
		return strings.Join(names, "+")
	}
}

// AddEventHandler is i.AddEventHandlerWithOptions with the options of this package. Like
// the method, it returns an error if the handler is nil. The error is
// [ErrUnsupportedInformer] if i is not an informer of this package. It is safe for
// concurrent use.
func AddEventHandler(
	i cache.SharedInformer, handler cache.ResourceEventHandler, options HandlerOptions,
) (cache.ResourceEventHandlerRegistration, error) {
	ours, ok := shell.As[adder](i)
	if !ok {
		return nil, fmt.Errorf("add a handler to %T: %w", i, unsupported(i))
	}
	return ours.AddHandler(handler, options)
}
