package namespaces

import (
	"errors"
	"fmt"
	"iter"
	"sync"
	"sync/atomic"
	"time"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
)

// patience is how long the removal of a namespace waits for a handler before it is logged.
const patience = 10 * time.Second

// multiHandler passes the events of all namespaces to one handler, one at a time. It is
// also the handler's registration.
type multiHandler struct {
	handler cache.ResourceEventHandler
	options cache.HandlerOptions
	synced  *multiChecker
	removed atomic.Bool
	// turn is full while the handler runs. It is no lock: nothing but calls of the handler waits for it.
	turn chan struct{}

	// joining is held while the handler joins or leaves the informer of a namespace.
	joining sync.Mutex
	// mu guards members. It is taken after joining.
	mu      sync.Mutex
	members map[*membership]registeredAt
}

// registeredAt is the registration of a handler with the informer of a namespace.
type registeredAt struct {
	informer     cache.SharedIndexInformer
	registration cache.ResourceEventHandlerRegistration
}

func newMultiHandler(
	handler cache.ResourceEventHandler, options cache.HandlerOptions, startWait func(func(<-chan struct{})),
) *multiHandler {
	h := &multiHandler{handler: handler, options: options, turn: make(chan struct{}, 1),
		members: map[*membership]registeredAt{}}
	h.synced = newMultiChecker(h.checkers, startWait)
	return h
}

// join adds the handler to the informer of a namespace, unless the namespace has left or the handler was
// removed.
func (h *multiHandler) join(at *membership, informer cache.SharedIndexInformer) error {
	h.joining.Lock()
	defer h.joining.Unlock()
	if h.removed.Load() || at.left.Load() {
		return nil
	}
	r, err := informer.AddEventHandlerWithOptions(handlerAt{h, at}, h.options)
	if err != nil {
		return err
	}
	h.change(func() { h.members[at] = registeredAt{informer, r} })
	return nil
}

// forgetInformer forgets the informer of a namespace, which is about to stop, and returns the registration
// there. The handler doesn't join it any more.
func (h *multiHandler) forgetInformer(at *membership) (r registeredAt, ok bool) {
	h.joining.Lock()
	defer h.joining.Unlock()
	h.change(func() {
		r, ok = h.members[at]
		delete(h.members, at)
	})
	return r, ok
}

// remove removes the handler from the informers of all namespaces.
func (h *multiHandler) remove() error {
	h.removed.Store(true)
	h.joining.Lock()
	defer h.joining.Unlock()
	var members map[*membership]registeredAt
	h.change(func() { members, h.members = h.members, map[*membership]registeredAt{} })
	var errs []error
	for _, r := range members {
		errs = append(errs, r.informer.RemoveEventHandler(r.registration))
	}
	return errors.Join(errs...)
}

// change changes members.
func (h *multiHandler) change(do func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	do()
	h.synced.change()
}

// forget reports to the handler a missed deletion of every object of a namespace that it knows, after the
// informer there has stopped. It knows what the informer holds, but for the changes that it hasn't received.
// utilruntime handles a panic of the handler; if the process survives, forget goes on with the other objects.
func (h *multiHandler) forget(at registeredAt) {
	defer time.AfterFunc(patience, func() {
		name := fmt.Sprintf("%T", h.handler)
		if named, ok := at.registration.(interface{ Name() string }); ok {
			name = named.Name()
		}
		klog.Background().Info("The removal of a namespace still waits for a handler", "handler", name)
	}).Stop()
	h.turn <- struct{}{}
	defer func() { <-h.turn }()
	forgotten := map[string]bool{}
	if r, ok := at.registration.(interface{ Undelivered() iter.Seq2[any, any] }); ok {
		for before, after := range r.Undelivered() {
			h.forgetOnce(forgotten, before, after)
		}
	}
	for _, obj := range at.informer.GetStore().List() {
		h.forgetOnce(forgotten, obj, obj)
	}
}

// forgetOnce reports a deletion of an object, unless forgotten has its key. before is its last state that the
// handler knows, nil if the handler doesn't know the object; then after is the object.
func (h *multiHandler) forgetOnce(forgotten map[string]bool, before, after any) {
	obj := before
	if obj == nil {
		obj = after
	}
	key, err := cache.MetaNamespaceKeyFunc(obj)
	if err != nil || forgotten[key] {
		return
	}
	forgotten[key] = true
	if before != nil && !h.removed.Load() {
		h.callOnDelete(cache.DeletedFinalStateUnknown{Key: key, Obj: before})
	}
}

func (h *multiHandler) callOnDelete(tombstone cache.DeletedFinalStateUnknown) {
	defer utilruntime.HandleCrash()
	h.handler.OnDelete(tombstone)
}

func (h *multiHandler) HasSynced() bool { return allDone(h.checkers()) }

func (h *multiHandler) HasSyncedChecker() cache.DoneChecker { return h.synced }

func (h *multiHandler) checkers() (list []cache.DoneChecker) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, r := range h.members {
		list = append(list, r.registration.HasSyncedChecker())
	}
	return list
}

// handlerAt is the handler at the informer of a namespace.
type handlerAt struct {
	*multiHandler
	at *membership
}

// Unwrap returns the handler by which this one is named.
func (h handlerAt) Unwrap() cache.ResourceEventHandler { return h.handler }

func (h handlerAt) OnAdd(obj any, isInInitialList bool) {
	if h.acquireTurn() {
		defer h.releaseTurn()
		h.handler.OnAdd(obj, isInInitialList)
	}
}

func (h handlerAt) OnUpdate(oldObj, newObj any) {
	if h.acquireTurn() {
		defer h.releaseTurn()
		h.handler.OnUpdate(oldObj, newObj)
	}
}

func (h handlerAt) OnDelete(obj any) {
	if h.acquireTurn() {
		defer h.releaseTurn()
		h.handler.OnDelete(obj)
	}
}

// acquireTurn waits for the handler's turn: after an earlier removal of the namespace, and after other calls.
// It returns false if the handler was removed.
func (h handlerAt) acquireTurn() bool {
	if h.at.before != nil {
		<-h.at.before
	}
	h.turn <- struct{}{}
	if h.removed.Load() {
		h.releaseTurn()
		return false
	}
	return true
}

func (h handlerAt) releaseTurn() { <-h.turn }
