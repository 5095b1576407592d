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

// handler is told of every change of an informer's store, one call at a time,
// in the order in which the store changed. Objects are shared with the store
// and with other handlers: they must not be modified.
type handler[K comparable] interface {
	// OnAdd is called for an object that is new. isInInitialList is true for
	// what the first list brought, and for what the store held already when
	// the handler was registered.
	OnAdd(obj any, isInInitialList bool)
	// OnUpdate is called for an object that took the place of another; changes
	// between the two may have been missed. On a resync both are the same.
	OnUpdate(oldObj, newObj any)
	// OnDelete is called for an object that is gone.
	OnDelete(gone deletion[K])
}

// deletion says what is known of an object that is gone.
type deletion[K comparable] struct {
	// Object is the state in which the server deleted the object, or, with
	// Missed, the last state that the informer knew.
	Object any
	// Missed says that the deletion itself was not seen: a list no longer
	// contained the object.
	Missed bool
	// Key is the key of the object. It is set only with Missed.
	Key K
}

// HandlerOptions adjust a registration. The zero value is fine.
type HandlerOptions struct {
	// Name is the handler's in logs and in the name of its HasSyncedChecker.
	Name string
	// Logger is where warnings about the handler go. The default is
	// klog.Background().
	Logger *klog.Logger
	// ResyncPeriod is how often the handler wants an update of every object in
	// the store: never if zero, as often as the informer's default if nil. The
	// informer may do it less often, see [AddEventHandler].
	ResyncPeriod *time.Duration
	// Coalesce bounds the backlog by the number of objects: changes of one
	// object that the handler has not been told of yet become one. It then sees
	// the latest state of each object, in the order in which they first changed,
	// but not every state in between; an object that came and went meanwhile is
	// not reported at all. An object that was deleted and created again is
	// reported as both.
	Coalesce bool
	// ContainPanics goes on with the next notification when the handler has
	// panicked, whatever utilruntime says of panics. The panic is handled as an
	// error by utilruntime, with the handler's name, and counted, see
	// [HandlerStatus].
	ContainPanics bool
}

// untyped calls a client-go handler, with tombstones as client-go has them.
type untyped[K comparable] struct {
	handler cache.ResourceEventHandler
	key     func(K) string
}

func (u untyped[K]) OnAdd(obj any, isInInitialList bool) { u.handler.OnAdd(obj, isInInitialList) }
func (u untyped[K]) OnUpdate(oldObj, newObj any)         { u.handler.OnUpdate(oldObj, newObj) }

func (u untyped[K]) OnDelete(gone deletion[K]) {
	if gone.Missed {
		u.handler.OnDelete(cache.DeletedFinalStateUnknown{Key: u.key(gone.Key), Obj: gone.Object})
		return
	}
	u.handler.OnDelete(gone.Object)
}

// converting is a typed handler of an informer whose objects are any. An object of
// another type makes it panic.
type converting[T cache.Object] struct {
	handler cache.TypedResourceEventHandler[T]
}

func (a *converting[T]) OnAdd(obj any, isInInitialList bool) {
	a.handler.OnAdd(obj.(T), isInInitialList)
}

func (a *converting[T]) OnUpdate(oldObj, newObj any) {
	a.handler.OnUpdate(oldObj.(T), newObj.(T))
}

func (a *converting[T]) OnDelete(obj any) {
	tombstone := tombstoneOf(obj)
	if tombstone == nil {
		a.handler.OnDelete(cache.DeletedObject[T]{OptionalObj: obj.(T)})
		return
	}
	deleted := cache.DeletedObject[T]{FinalStateUnknown: tombstone}
	if tombstone.Obj != nil {
		deleted.OptionalObj = tombstone.Obj.(T)
	}
	a.handler.OnDelete(deleted)
}

// tombstoneOf returns a copy of the tombstone that stands for an object, nil if
// it is the object itself.
func tombstoneOf(obj any) *cache.DeletedFinalStateUnknown {
	tombstone, ok := obj.(cache.DeletedFinalStateUnknown)
	if !ok {
		return nil
	}
	copied := tombstone
	return &copied
}

// handlerName names a handler as client-go does: by its type, or, when it is a
// set of functions, by those.
func handlerName(handler cache.ResourceEventHandler) string {
	switch h := handler.(type) {
	case cache.ResourceEventHandlerFuncs:
		return functionNames(h, h.AddFunc, h.UpdateFunc, h.DeleteFunc)
	case *cache.ResourceEventHandlerFuncs:
		return functionNames(h, h.AddFunc, h.UpdateFunc, h.DeleteFunc)
	default:
		return typeName(h)
	}
}

// typedHandlerName is handlerName for a typed handler of whatever type.
func typedHandlerName(handler any) string {
	v := reflect.Indirect(reflect.ValueOf(handler))
	if !v.IsValid() || v.Type().PkgPath() != reflect.TypeFor[cache.ResourceEventHandlerFuncs]().PkgPath() ||
		!strings.HasPrefix(v.Type().Name(), "TypedResourceEventHandlerFuncs[") {
		return typeName(handler)
	}
	return functionNames(handler, v.FieldByName("AddFunc").Interface(), v.FieldByName("UpdateFunc").Interface(), v.FieldByName("DeleteFunc").Interface())
}

// typeName is the type of a handler, or what its pointer points to, with the
// path of its package. A type without a name is described.
func typeName(handler any) string {
	if handler == nil {
		return fmt.Sprintf("%T", handler)
	}
	t := reflect.TypeOf(handler)
	if t.Kind() == reflect.Pointer && !reflect.ValueOf(handler).IsNil() {
		t = t.Elem()
	}
	name := t.Name()
	if path := t.PkgPath(); path != "" {
		name = path + "." + name
	}
	if name == "" {
		return fmt.Sprintf("%T", handler)
	}
	return name
}

// functionNames names functions by what they have in common, the function or
// the type that they are written in, or else by all their names.
func functionNames(handler any, functions ...any) string {
	var names, qualifiers []string
	for _, function := range functions {
		f := runtime.FuncForPC(reflect.ValueOf(function).Pointer())
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
		return fmt.Sprintf("%T", handler)
	case 1:
		return qualifiers[0]
	default:
		return strings.Join(names, "+")
	}
}

// AddEventHandler is i.AddEventHandlerWithOptions with the options of this
// package. A handler that is nil is an error; client-go's method takes it, here
// as there, and panics at the first event.
func AddEventHandler(i cache.SharedInformer, handler cache.ResourceEventHandler, options HandlerOptions) (cache.ResourceEventHandlerRegistration, error) {
	ours, ok := shell.As[adder](i)
	if !ok {
		return nil, fmt.Errorf("add a handler to %T: %w", i, unsupported(i))
	}
	if handler == nil {
		return nil, fmt.Errorf("add a handler to %T: the handler is nil", i)
	}
	return ours.AddHandler(handler, options)
}
