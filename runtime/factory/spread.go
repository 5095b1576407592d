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

// spread is an informer of several namespaces, made of one for each.
type spread[F Runner] struct {
	set *Namespaces[F]
	of  func(F) cache.SharedIndexInformer
	// children, handlers and prepare are guarded by the set's mu.
	children map[string]cache.SharedIndexInformer
	handlers []*spreadHandler
	synced   *together
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
	h := &spreadHandler{handler: handler, options: options, known: map[string]map[string]any{}, at: map[string]registered{}}
	h.synced = newTogether(h.checkers, s.set.begin)
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
	s.synced.change()
	return nil
}

// leave is the end of a namespace for what follows. The caller holds the set's
// mu.
func (s *spread[F]) leave(namespace string) {
	delete(s.children, namespace)
	s.synced.change()
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
func (s *spread[F]) HasSyncedChecker() cache.DoneChecker { return s.synced }
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
