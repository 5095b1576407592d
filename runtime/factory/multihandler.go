package factory

import (
	"errors"
	"sync"
	"sync/atomic"

	"k8s.io/client-go/tools/cache"
)

// multiHandler hands the events of all namespaces to one handler, one at a time.
// It is its own registration.
type multiHandler struct {
	handler cache.ResourceEventHandler
	options cache.HandlerOptions
	synced  *multiChecker
	removed atomic.Bool

	mu sync.Mutex
	// known is what the handler was told of, by namespace and key.
	known map[string]map[string]any
	// at has a lock of its own, so that it can be read while the handler runs.
	atMu sync.Mutex
	at   map[string]registered
}

// registered is where a handler was added.
type registered struct {
	child cache.SharedIndexInformer
	as    cache.ResourceEventHandlerRegistration
}

// join adds the handler to the informer of a namespace.
func (h *multiHandler) join(namespace string, child cache.SharedIndexInformer) error {
	as, err := child.AddEventHandlerWithOptions(h.in(namespace), h.options)
	if err != nil {
		return err
	}
	h.atMu.Lock()
	defer h.atMu.Unlock()
	defer h.synced.change()
	h.at[namespace] = registered{child, as}
	return nil
}

func (h *multiHandler) leave(namespace string) {
	h.atMu.Lock()
	defer h.atMu.Unlock()
	defer h.synced.change()
	delete(h.at, namespace)
}

func (h *multiHandler) remove() error {
	h.removed.Store(true)
	h.atMu.Lock()
	defer h.atMu.Unlock()
	defer h.synced.change()
	var errs []error
	for _, r := range h.at {
		errs = append(errs, r.child.RemoveEventHandler(r.as))
	}
	clear(h.at)
	return errors.Join(errs...)
}

// left tells the handler that all that it knows of a namespace is gone.
func (h *multiHandler) left(namespace string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for key, obj := range h.known[namespace] {
		if !h.removed.Load() {
			h.handler.OnDelete(cache.DeletedFinalStateUnknown{Key: key, Obj: obj})
		}
	}
	delete(h.known, namespace)
}

func (h *multiHandler) HasSynced() bool { return allDone(h.checkers()) }

func (h *multiHandler) HasSyncedChecker() cache.DoneChecker { return h.synced }

func (h *multiHandler) checkers() (list []cache.DoneChecker) {
	h.atMu.Lock()
	defer h.atMu.Unlock()
	for _, r := range h.at {
		list = append(list, r.as.HasSyncedChecker())
	}
	return list
}

// in returns the handler for one namespace's informer.
func (h *multiHandler) in(namespace string) cache.ResourceEventHandler {
	return cache.ResourceEventHandlerDetailedFuncs{
		AddFunc: func(obj any, isInInitialList bool) {
			h.tell(namespace, obj, false, func() { h.handler.OnAdd(obj, isInInitialList) })
		},
		UpdateFunc: func(oldObj, newObj any) {
			h.tell(namespace, newObj, false, func() { h.handler.OnUpdate(oldObj, newObj) })
		},
		DeleteFunc: func(obj any) { h.tell(namespace, obj, true, func() { h.handler.OnDelete(obj) }) },
	}
}

func (h *multiHandler) tell(namespace string, obj any, gone bool, call func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.removed.Load() {
		return
	}
	if key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(obj); err == nil {
		known := h.known[namespace]
		if known == nil {
			known = map[string]any{}
			h.known[namespace] = known
		}
		if gone {
			delete(known, key)
		} else {
			known[key] = obj
		}
	}
	call()
}
