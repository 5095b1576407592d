package factory

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/cache"
)

// spread is an informer of several namespaces, made of one for each.
type spread[F Runner] struct {
	set *Namespaces[F]
	of  func(F) cache.SharedIndexInformer
	// children, handlers and prepare are guarded by the set's mu.
	children map[string]cache.SharedIndexInformer
	handlers []*spreadHandler
	// prepare is what was done to the children that exist and is to be done to
	// every other before it starts.
	prepare []func(child cache.SharedIndexInformer) error
}

// each does something to all children and to all that come.
func (s *spread[F]) each(do func(child cache.SharedIndexInformer) error) error {
	s.set.mu.Lock()
	defer s.set.mu.Unlock()
	for _, child := range s.children {
		if err := do(child); err != nil {
			return err
		}
	}
	s.prepare = append(s.prepare, do)
	return nil
}

func (s *spread[F]) now() []cache.SharedIndexInformer {
	s.set.mu.RLock()
	defer s.set.mu.RUnlock()
	list := make([]cache.SharedIndexInformer, 0, len(s.children))
	for _, child := range s.children {
		list = append(list, child)
	}
	return list
}

// in returns the informer of a namespace, nil if there is none.
func (s *spread[F]) in(namespace string) cache.SharedIndexInformer {
	s.set.mu.RLock()
	defer s.set.mu.RUnlock()
	return s.children[namespace]
}

func (s *spread[F]) AddEventHandler(handler cache.ResourceEventHandler) (cache.ResourceEventHandlerRegistration, error) {
	return s.AddEventHandlerWithOptions(handler, cache.HandlerOptions{})
}

func (s *spread[F]) AddEventHandlerWithResyncPeriod(handler cache.ResourceEventHandler, resyncPeriod time.Duration) (cache.ResourceEventHandlerRegistration, error) {
	return s.AddEventHandlerWithOptions(handler, cache.HandlerOptions{ResyncPeriod: &resyncPeriod})
}

func (s *spread[F]) AddEventHandlerWithOptions(handler cache.ResourceEventHandler, options cache.HandlerOptions) (cache.ResourceEventHandlerRegistration, error) {
	h := &spreadHandler{handler: handler, options: options, known: map[string]map[string]any{}, at: map[string]registered{}, await: s.set.await}
	s.set.mu.Lock()
	defer s.set.mu.Unlock()
	for namespace, child := range s.children {
		if err := h.join(namespace, child); err != nil {
			return nil, errors.Join(err, h.remove())
		}
	}
	s.handlers = append(s.handlers, h)
	return h, nil
}

func (s *spread[F]) RemoveEventHandler(handle cache.ResourceEventHandlerRegistration) error {
	h, ok := handle.(*spreadHandler)
	if !ok {
		return fmt.Errorf("invalid handle of type %T: it is of no informer of this kind", handle)
	}
	s.set.mu.Lock()
	defer s.set.mu.Unlock()
	if at := slices.Index(s.handlers, h); at >= 0 {
		s.handlers = slices.Delete(s.handlers, at, at+1)
		return h.remove()
	}
	return nil
}

// adopt makes child, which hasn't been started, what those of other namespaces
// are. The caller holds the set's mu.
func (s *spread[F]) adopt(namespace string, child cache.SharedIndexInformer) error {
	for _, prepare := range s.prepare {
		if err := prepare(child); err != nil {
			return err
		}
	}
	for _, h := range s.handlers {
		if err := h.join(namespace, child); err != nil {
			return err
		}
	}
	s.children[namespace] = child
	return nil
}

// leave is the end of a namespace for what follows. The caller holds the set's
// mu.
func (s *spread[F]) leave(namespace string) {
	delete(s.children, namespace)
	for _, h := range s.handlers {
		h.leave(namespace)
	}
}

func (s *spread[F]) GetStore() cache.Store     { return spreadIndexer[F]{s} }
func (s *spread[F]) GetIndexer() cache.Indexer { return spreadIndexer[F]{s} }

func (s *spread[F]) AddIndexers(indexers cache.Indexers) error {
	return s.each(func(child cache.SharedIndexInformer) error { return child.AddIndexers(indexers) })
}

func (s *spread[F]) SetTransform(transform cache.TransformFunc) error {
	return s.each(func(child cache.SharedIndexInformer) error { return child.SetTransform(transform) })
}

func (s *spread[F]) SetWatchErrorHandler(handler cache.WatchErrorHandler) error {
	return s.each(func(child cache.SharedIndexInformer) error { return child.SetWatchErrorHandler(handler) })
}

func (s *spread[F]) SetWatchErrorHandlerWithContext(handler cache.WatchErrorHandlerWithContext) error {
	return s.each(func(child cache.SharedIndexInformer) error {
		return child.SetWatchErrorHandlerWithContext(handler)
	})
}

// GetController returns the informer, which is all that a controller is.
func (s *spread[F]) GetController() cache.Controller     { return s }
func (s *spread[F]) Run(stopCh <-chan struct{})          { s.RunWithContext(wait.ContextForChannel(stopCh)) }
func (s *spread[F]) RunWithContext(ctx context.Context)  { <-ctx.Done() }
func (s *spread[F]) LastSyncResourceVersion() string     { return "" }
func (s *spread[F]) HasSynced() bool                     { return allDone(s.checkers()) }
func (s *spread[F]) HasSyncedChecker() cache.DoneChecker { return together{s.checkers, s.set.await} }
func (s *spread[F]) checkers() (list []cache.DoneChecker) {
	for _, child := range s.now() {
		list = append(list, child.HasSyncedChecker())
	}
	return list
}

// IsStopped says whether the set was shut down.
func (s *spread[F]) IsStopped() bool {
	s.set.mu.RLock()
	defer s.set.mu.RUnlock()
	return s.set.stopping
}

// await returns a channel that is closed when all of what is waited for is done,
// or never if the set is shut down before.
func (n *Namespaces[F]) await(checkers []cache.DoneChecker) <-chan struct{} {
	all := make(chan struct{})
	if allDone(checkers) {
		close(all)
		return all
	}
	n.mu.RLock()
	defer n.mu.RUnlock()
	if n.stopping {
		return all
	}
	n.waiting.Go(func() {
		for _, checker := range checkers {
			select {
			case <-checker.Done():
			case <-n.ended:
				return
			}
		}
		close(all)
	})
	return all
}

func allDone(checkers []cache.DoneChecker) bool {
	return !slices.ContainsFunc(checkers, func(c cache.DoneChecker) bool { return !cache.IsDone(c) })
}

// together is what several wait for.
type together struct {
	checkers func() []cache.DoneChecker
	await    func([]cache.DoneChecker) <-chan struct{}
}

func (together) Name() string            { return "informers of namespaces" }
func (t together) Done() <-chan struct{} { return t.await(t.checkers()) }

// spreadHandler hands the events of all namespaces to one handler, one at a time.
// It is its own registration.
type spreadHandler struct {
	handler cache.ResourceEventHandler
	options cache.HandlerOptions
	await   func([]cache.DoneChecker) <-chan struct{}
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
func (h *spreadHandler) join(namespace string, child cache.SharedIndexInformer) error {
	as, err := child.AddEventHandlerWithOptions(h.in(namespace), h.options)
	if err != nil {
		return err
	}
	h.atMu.Lock()
	defer h.atMu.Unlock()
	h.at[namespace] = registered{child, as}
	return nil
}

func (h *spreadHandler) leave(namespace string) {
	h.atMu.Lock()
	defer h.atMu.Unlock()
	delete(h.at, namespace)
}

func (h *spreadHandler) remove() error {
	h.removed.Store(true)
	h.atMu.Lock()
	defer h.atMu.Unlock()
	var errs []error
	for _, r := range h.at {
		errs = append(errs, r.child.RemoveEventHandler(r.as))
	}
	clear(h.at)
	return errors.Join(errs...)
}

// left tells the handler that all that it knows of a namespace is gone.
func (h *spreadHandler) left(namespace string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for key, obj := range h.known[namespace] {
		if !h.removed.Load() {
			h.handler.OnDelete(cache.DeletedFinalStateUnknown{Key: key, Obj: obj})
		}
	}
	delete(h.known, namespace)
}

func (h *spreadHandler) HasSynced() bool { return allDone(h.checkers()) }

func (h *spreadHandler) HasSyncedChecker() cache.DoneChecker {
	return together{h.checkers, h.await}
}

func (h *spreadHandler) checkers() (list []cache.DoneChecker) {
	h.atMu.Lock()
	defer h.atMu.Unlock()
	for _, r := range h.at {
		list = append(list, r.as.HasSyncedChecker())
	}
	return list
}

// in returns the handler for one namespace's informer.
func (h *spreadHandler) in(namespace string) cache.ResourceEventHandler {
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

func (h *spreadHandler) tell(namespace string, obj any, gone bool, call func()) {
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
