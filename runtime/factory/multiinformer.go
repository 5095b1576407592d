package factory

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/cache"
)

// multiInformer shows the informers of several namespaces as one.
type multiInformer[F runner] struct {
	set *Namespaces[F]
	of  func(F) cache.SharedIndexInformer
	// children, handlers and prepare are guarded by the set's mu.
	children map[string]cache.SharedIndexInformer
	handlers []*multiHandler
	synced   *multiChecker
	// prepare has the functions that have set up the children. They also set up each new
	// child before it starts.
	prepare []func(child cache.SharedIndexInformer) error
}

// each calls do for every child, and for every later one before it starts.
func (s *multiInformer[F]) each(do func(child cache.SharedIndexInformer) error) error {
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

func (s *multiInformer[F]) now() []cache.SharedIndexInformer {
	s.set.mu.RLock()
	defer s.set.mu.RUnlock()
	list := make([]cache.SharedIndexInformer, 0, len(s.children))
	for _, child := range s.children {
		list = append(list, child)
	}
	return list
}

// in returns the informer of a namespace, or nil if there is none.
func (s *multiInformer[F]) in(namespace string) cache.SharedIndexInformer {
	s.set.mu.RLock()
	defer s.set.mu.RUnlock()
	return s.children[namespace]
}

func (s *multiInformer[F]) AddEventHandler(
	handler cache.ResourceEventHandler,
) (cache.ResourceEventHandlerRegistration, error) {
	return s.AddEventHandlerWithOptions(handler, cache.HandlerOptions{})
}

func (s *multiInformer[F]) AddEventHandlerWithResyncPeriod(
	handler cache.ResourceEventHandler, resyncPeriod time.Duration,
) (cache.ResourceEventHandlerRegistration, error) {
	return s.AddEventHandlerWithOptions(handler, cache.HandlerOptions{ResyncPeriod: &resyncPeriod})
}

func (s *multiInformer[F]) AddEventHandlerWithOptions(
	handler cache.ResourceEventHandler, options cache.HandlerOptions,
) (cache.ResourceEventHandlerRegistration, error) {
	if handler == nil {
		return nil, errNilHandler
	}
	h := &multiHandler{handler: handler, options: options, known: map[string]map[string]any{},
		members: map[string]registeredAt{}}
	h.synced = newMultiChecker(h.checkers, s.set.begin)
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

func (s *multiInformer[F]) RemoveEventHandler(handle cache.ResourceEventHandlerRegistration) error {
	h, ok := handle.(*multiHandler)
	if !ok {
		return fmt.Errorf("invalid handle of type %T: no informer of several namespaces returned it", handle)
	}
	s.set.mu.Lock()
	defer s.set.mu.Unlock()
	if at := slices.Index(s.handlers, h); at >= 0 {
		s.handlers = slices.Delete(s.handlers, at, at+1)
		return h.remove()
	}
	return nil
}

// errNilHandler is returned for a nil handler, in place of a panic at its first event.
var errNilHandler = errors.New("add a handler to the informers of several namespaces: the handler is nil")

// adopt sets up child, which has not started, like the other children and adds the handlers to
// it. The caller holds the set's mu.
func (s *multiInformer[F]) adopt(namespace string, child cache.SharedIndexInformer) error {
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
	s.synced.change()
	return nil
}

// leave removes a namespace. The caller holds the set's mu.
func (s *multiInformer[F]) leave(namespace string) {
	delete(s.children, namespace)
	s.synced.change()
	for _, h := range s.handlers {
		h.leave(namespace)
	}
}

func (s *multiInformer[F]) GetStore() cache.Store     { return multiIndexer[F]{s} }
func (s *multiInformer[F]) GetIndexer() cache.Indexer { return multiIndexer[F]{s} }

func (s *multiInformer[F]) AddIndexers(indexers cache.Indexers) error {
	return s.each(func(child cache.SharedIndexInformer) error { return child.AddIndexers(indexers) })
}

func (s *multiInformer[F]) SetTransform(transform cache.TransformFunc) error {
	return s.each(func(child cache.SharedIndexInformer) error { return child.SetTransform(transform) })
}

func (s *multiInformer[F]) SetWatchErrorHandler(handler cache.WatchErrorHandler) error {
	return s.each(func(child cache.SharedIndexInformer) error { return child.SetWatchErrorHandler(handler) })
}

func (s *multiInformer[F]) SetWatchErrorHandlerWithContext(handler cache.WatchErrorHandlerWithContext) error {
	return s.each(func(child cache.SharedIndexInformer) error {
		return child.SetWatchErrorHandlerWithContext(handler)
	})
}

// GetController returns the informer, which has all methods of a controller.
func (s *multiInformer[F]) GetController() cache.Controller { return s }
func (s *multiInformer[F]) Run(stopCh <-chan struct{}) {
	s.RunWithContext(wait.ContextForChannel(stopCh))
}
func (s *multiInformer[F]) RunWithContext(ctx context.Context)  { <-ctx.Done() }
func (s *multiInformer[F]) LastSyncResourceVersion() string     { return "" }
func (s *multiInformer[F]) HasSynced() bool                     { return allDone(s.checkers()) }
func (s *multiInformer[F]) HasSyncedChecker() cache.DoneChecker { return s.synced }
func (s *multiInformer[F]) checkers() (list []cache.DoneChecker) {
	for _, child := range s.now() {
		list = append(list, child.HasSyncedChecker())
	}
	return list
}

// IsStopped reports whether the set was shut down.
func (s *multiInformer[F]) IsStopped() bool {
	s.set.mu.RLock()
	defer s.set.mu.RUnlock()
	return s.set.stopping
}
