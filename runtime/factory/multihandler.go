package factory

import (
	"errors"
	"sync"
	"sync/atomic"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/tools/cache"
)

// multiHandler passes the events of all namespaces to one handler, one at a time. It is
// also the handler's registration.
type multiHandler struct {
	handler cache.ResourceEventHandler
	options cache.HandlerOptions
	synced  *multiChecker
	removed atomic.Bool

	mu sync.Mutex
	// known has the objects that the handler has received, by namespace and key.
	known map[string]map[string]any
	// members has a lock of its own, so that it can be read while the handler runs.
	membersMu sync.Mutex
	members   map[string]registeredAt
}

// registeredAt is the registration of a handler with the informer of a namespace.
type registeredAt struct {
	child        cache.SharedIndexInformer
	registration cache.ResourceEventHandlerRegistration
}

// join adds the handler to the informer of a namespace.
func (h *multiHandler) join(namespace string, child cache.SharedIndexInformer) error {
	r, err := child.AddEventHandlerWithOptions(h.in(namespace), h.options)
	if err != nil {
		return err
	}
	h.membersMu.Lock()
	defer h.membersMu.Unlock()
	defer h.synced.change()
	h.members[namespace] = registeredAt{child, r}
	return nil
}

// leave forgets the informer of a namespace, which is about to stop.
func (h *multiHandler) leave(namespace string) {
	h.membersMu.Lock()
	defer h.membersMu.Unlock()
	defer h.synced.change()
	delete(h.members, namespace)
}

// remove removes the handler from the informers of all namespaces.
func (h *multiHandler) remove() error {
	h.removed.Store(true)
	h.membersMu.Lock()
	defer h.membersMu.Unlock()
	defer h.synced.change()
	var errs []error
	for _, r := range h.members {
		errs = append(errs, r.child.RemoveEventHandler(r.registration))
	}
	clear(h.members)
	return errors.Join(errs...)
}

// forget reports to the handler a missed deletion of every known object of a namespace
// whose informer has stopped. utilruntime handles a panic of the handler; if the process
// survives, forget goes on with the other objects.
func (h *multiHandler) forget(namespace string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for key, obj := range h.known[namespace] {
		if !h.removed.Load() {
			h.tellGone(cache.DeletedFinalStateUnknown{Key: key, Obj: obj})
		}
	}
	delete(h.known, namespace)
}

func (h *multiHandler) tellGone(tombstone cache.DeletedFinalStateUnknown) {
	defer utilruntime.HandleCrash()
	h.handler.OnDelete(tombstone)
}

func (h *multiHandler) HasSynced() bool { return allDone(h.checkers()) }

func (h *multiHandler) HasSyncedChecker() cache.DoneChecker { return h.synced }

func (h *multiHandler) checkers() (list []cache.DoneChecker) {
	h.membersMu.Lock()
	defer h.membersMu.Unlock()
	for _, r := range h.members {
		list = append(list, r.registration.HasSyncedChecker())
	}
	return list
}

// in returns the handler for the informer of a namespace.
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

// tell adds the object to known, or removes it if gone, and calls the handler.
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
