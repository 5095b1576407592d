// Package cache has the unexported names of client-go's package cache that its tests use, implemented by
// ours.
package cache

import (
	"maps"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"

	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/klog/v2"

	. "github.com/kubewright/kubewright/runtime/cache"
	"github.com/kubewright/kubewright/runtime/informer"
)

// testFifoObject is an object that tests put into queues.
type testFifoObject struct {
	name string
	val  any
}

func mkFifoObj(name string, val any) testFifoObject { return testFifoObject{name, val} }

func testFifoObjectKeyFunc(obj any) (string, error) { return obj.(testFifoObject).name, nil }

// Pop takes the next object of a queue.
func Pop(queue Queue) (obj any) {
	queue.Pop(func(next any, _ bool) error { obj = next; return nil })
	return obj
}

// field returns an unexported field of a DeltaFIFO.
func field[T any](f *DeltaFIFO, name string) *T {
	return (*T)(unsafe.Pointer(reflect.ValueOf(f).Elem().FieldByName(name).UnsafeAddr()))
}

// fifoItems returns the queued deltas, by key.
func fifoItems(f *DeltaFIFO) map[string]Deltas {
	mu := field[sync.Mutex](f, "mu")
	mu.Lock()
	defer mu.Unlock()
	return maps.Clone(*field[map[string]Deltas](f, "items"))
}

// fifoKeys returns the queued keys in their order.
func fifoKeys(f *DeltaFIFO) []string {
	mu := field[sync.Mutex](f, "mu")
	mu.Lock()
	defer mu.Unlock()
	return slices.Clone((*field[[]string](f, "keys"))[*field[int](f, "taken"):])
}

// fifoList returns the newest queued object of each key.
func fifoList(f *DeltaFIFO) []any {
	list := []any{}
	for _, deltas := range fifoItems(f) {
		list = append(list, deltas.Newest().Object)
	}
	return list
}

// fifoGet returns the queued deltas of an object.
func fifoGet(f *DeltaFIFO, obj any) (deltas any, exists bool, err error) {
	key, err := f.KeyOf(obj)
	if err != nil {
		return nil, false, err
	}
	queued, exists := fifoItems(f)[key]
	return queued, exists, nil
}

// fifoReplaces makes a queue emit Replaced for the objects of lists.
func fifoReplaces(f *DeltaFIFO) { *field[DeltaType](f, "inLists") = Replaced }

// fifoLogger stands in for a queue's logger.
var fifoLogger = klog.Background()

// processDeltas applies deltas to a store and calls a handler for them.
func processDeltas(
	_ klog.Logger, handler ResourceEventHandler, store Store, deltas Deltas, isInInitialList bool,
	keyFunc KeyFunc,
) error {
	for _, d := range deltas {
		switch info := d.Object.(type) {
		case ReplacedAllInfo:
			if err := replaceAll(handler, store, info, isInInitialList, keyFunc); err != nil {
				return err
			}
			continue
		case SyncAllInfo:
			for _, obj := range store.List() {
				handler.OnUpdate(obj, obj)
			}
			continue
		case BookmarkInfo:
			store.Bookmark(info.ResourceVersion)
			continue
		}
		if d.Type == Deleted {
			if err := store.Delete(d.Object); err != nil {
				return err
			}
			handler.OnDelete(d.Object)
			continue
		}
		old, existed, err := store.Get(d.Object)
		if err != nil {
			return err
		}
		if err := store.Update(d.Object); err != nil {
			return err
		}
		tell(handler, old, existed, d.Object, isInInitialList)
	}
	return nil
}

func replaceAll(
	handler ResourceEventHandler, store Store, info ReplacedAllInfo, isInInitialList bool, keyFunc KeyFunc,
) error {
	before := map[string]any{}
	for _, key := range store.ListKeys() {
		before[key], _, _ = store.GetByKey(key)
	}
	if err := store.Replace(info.Objects, info.ResourceVersion); err != nil {
		return err
	}
	for key, obj := range before {
		if _, exists, _ := store.GetByKey(key); !exists {
			handler.OnDelete(DeletedFinalStateUnknown{Key: key, Obj: obj})
		}
	}
	for _, obj := range info.Objects {
		key, err := keyFunc(obj)
		if err != nil {
			return err
		}
		old, existed := before[key]
		tell(handler, old, existed, obj, isInInitialList)
	}
	return nil
}

func tell(handler ResourceEventHandler, old any, existed bool, obj any, isInInitialList bool) {
	if existed {
		handler.OnUpdate(old, obj)
	} else {
		handler.OnAdd(obj, isInInitialList)
	}
}

func processDeltasInBatch(
	logger klog.Logger, handler ResourceEventHandler, store Store, deltas []Delta, isInInitialList bool,
	keyFunc KeyFunc,
) error {
	return processDeltas(logger, handler, store, deltas, isInInitialList, keyFunc)
}

func eventHandlerCount(i SharedInformer) int {
	status, _ := informer.StatusOf(i)
	return len(status.Handlers)
}

func isStarted(i SharedInformer) bool {
	status, _ := informer.StatusOf(i)
	return status.State != informer.Idle
}

// isRegistered reports whether a handler is one of the informer's.
func isRegistered(i SharedInformer, h ResourceEventHandlerRegistration) bool {
	of := reflect.ValueOf(h).Elem().FieldByName("informer").Pointer()
	select {
	case <-h.(interface{ ShutdownChan() <-chan struct{} }).ShutdownChan():
		return false
	default:
		return of == reflect.ValueOf(i).Elem().FieldByName("core").Pointer()
	}
}

// sharedProcessorRunHook delays a goroutine of client-go's informers.
var sharedProcessorRunHook atomic.Pointer[func()]

// nameForHandler returns the name of a handler in statuses and logs.
func nameForHandler(h ResourceEventHandler) string {
	i := NewSharedInformer(&ListWatch{}, nil, 0)
	if _, err := i.AddEventHandler(h); err != nil {
		return err.Error()
	}
	status, _ := informer.StatusOf(i)
	return status.Handlers[0].Name
}

// indicesOf returns the keys in a store by index and value.
func indicesOf(store ThreadSafeStore) map[string]map[string]sets.Set[string] {
	all := map[string]map[string]sets.Set[string]{}
	for name := range store.GetIndexers() {
		all[name] = map[string]sets.Set[string]{}
		for _, value := range store.ListIndexFuncValues(name) {
			keys, err := store.IndexKeys(name, value)
			if err != nil {
				panic(err)
			}
			all[name][value] = sets.New(keys...)
		}
	}
	return all
}

// fakeShared is an informer with an indexer. It keeps the handler that is added.
type fakeShared struct {
	SharedIndexInformer
	indexer Indexer
	handler ResourceEventHandler
}

func (f *fakeShared) GetIndexer() Indexer { return f.indexer }

func (f *fakeShared) AddEventHandlerWithOptions(
	handler ResourceEventHandler, _ HandlerOptions,
) (ResourceEventHandlerRegistration, error) {
	f.handler = handler
	return nil, nil
}

// typedResourceEventHandler wraps a typed handler as our typed informers add it.
type typedResourceEventHandler[T Object] struct{ handler TypedResourceEventHandler[T] }

func (h *typedResourceEventHandler[T]) added() ResourceEventHandler {
	fake := &fakeShared{}
	if _, err := NewTypedSharedIndexInformer[T](fake).AddTypedEventHandler(h.handler); err != nil {
		panic(err)
	}
	return fake.handler
}

func (h *typedResourceEventHandler[T]) OnAdd(obj any, isInInitialList bool) {
	h.added().OnAdd(obj, isInInitialList)
}

func (h *typedResourceEventHandler[T]) OnUpdate(oldObj, newObj any) {
	h.added().OnUpdate(oldObj, newObj)
}

func (h *typedResourceEventHandler[T]) OnDelete(obj any) { h.added().OnDelete(obj) }

// typedIndexer wraps an indexer as our typed informers return it.
type typedIndexer[T Object] struct{ Indexer }

func (x typedIndexer[T]) typed() TypedIndexer[T] {
	return NewTypedSharedIndexInformer[T](&fakeShared{indexer: x.Indexer}).GetTypedIndexer()
}

func (x typedIndexer[T]) TypedIndex(name string, obj T) ([]T, error) {
	return x.typed().TypedIndex(name, obj)
}

func (x typedIndexer[T]) ByTypedIndex(name, value string) ([]T, error) {
	return x.typed().ByTypedIndex(name, value)
}

func (x typedIndexer[T]) AddTypedIndexers(indexers TypedIndexers[T]) error {
	return x.typed().AddTypedIndexers(indexers)
}
