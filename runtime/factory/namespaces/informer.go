package namespaces

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/cache"
)

// multiInformer shows the informers of several namespaces as one.
type multiInformer[F Factory] struct {
	set     *Set[F]
	childOf func(F) cache.SharedIndexInformer
	// entry is the informer's entry in the set.
	entry  *combined[F]
	synced *multiChecker

	// The set's mu guards the fields below.
	children map[string]child
	// steps have set up the children, and will set up each new child before it starts, in this order.
	steps []step
	// last is the number of the last step.
	last uint64
}

// step changes a setting of a child, or adds a handler to it.
type step struct {
	number uint64
	do     func(at *membership, child cache.SharedIndexInformer) error
	// handler is nil if a setting is changed.
	handler *multiHandler
}

func newMultiInformer[F Factory](set *Set[F], of func(F) cache.SharedIndexInformer) *multiInformer[F] {
	s := &multiInformer[F]{set: set, childOf: of, children: map[string]child{}}
	s.synced = newMultiChecker(s.checkers, set.startWait)
	return s
}

// applySetting changes a setting of every child, and of every later one before it starts.
func (s *multiInformer[F]) applySetting(do func(child cache.SharedIndexInformer) error) error {
	return s.applyStep(step{do: func(_ *membership, c cache.SharedIndexInformer) error { return do(c) }})
}

// applyStep applies a step to every child, and to every later one before it starts.
func (s *multiInformer[F]) applyStep(st step) error {
	number, children := s.addStep(st)
	for _, c := range children {
		if err := st.do(c.membership, c.informer); err != nil && !c.left.Load() {
			s.removeStep(func(other step) bool { return other.number == number })
			return err
		}
	}
	return nil
}

func (s *multiInformer[F]) addStep(st step) (number uint64, children []child) {
	s.set.mu.Lock()
	defer s.set.mu.Unlock()
	s.last++
	st.number = s.last
	s.steps = append(s.steps, st)
	s.entry.kept = s
	return s.last, slices.Collect(maps.Values(s.children))
}

// removeStep removes the step for which is returns true, and reports whether there was one.
func (s *multiInformer[F]) removeStep(is func(step) bool) bool {
	s.set.mu.Lock()
	defer s.set.mu.Unlock()
	before := len(s.steps)
	// Additions read the steps without the lock.
	s.steps = slices.DeleteFunc(slices.Clone(s.steps), is)
	if len(s.steps) == 0 {
		s.entry.kept = nil
	}
	return len(s.steps) < before
}

// after returns the steps after a number. The caller holds the set's mu.
func (s *multiInformer[F]) after(number uint64) []step {
	first := slices.IndexFunc(s.steps, func(st step) bool { return st.number > number })
	if first < 0 {
		return nil
	}
	return s.steps[first:]
}

func (s *multiInformer[F]) handlers() (list []*multiHandler) {
	s.set.mu.RLock()
	defer s.set.mu.RUnlock()
	for _, st := range s.steps {
		if st.handler != nil {
			list = append(list, st.handler)
		}
	}
	return list
}

// setChild adds the informer of a namespace. The caller holds the set's mu.
func (s *multiInformer[F]) setChild(at *membership, informer cache.SharedIndexInformer) {
	s.children[at.namespace] = child{membership: at, informer: informer}
	s.synced.change()
}

// removeChild removes the informer of a namespace. The caller holds the set's mu.
func (s *multiInformer[F]) removeChild(namespace string) {
	delete(s.children, namespace)
	s.synced.change()
}

func (s *multiInformer[F]) now() []cache.SharedIndexInformer {
	s.set.mu.RLock()
	defer s.set.mu.RUnlock()
	list := make([]cache.SharedIndexInformer, 0, len(s.children))
	for _, c := range s.children {
		list = append(list, c.informer)
	}
	return list
}

// in returns the informer of a namespace, or nil if there is none.
func (s *multiInformer[F]) in(namespace string) cache.SharedIndexInformer {
	s.set.mu.RLock()
	defer s.set.mu.RUnlock()
	return s.children[namespace].informer
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
	h := newMultiHandler(handler, options, s.set.startWait)
	if err := s.applyStep(step{do: h.join, handler: h}); err != nil {
		return nil, errors.Join(err, h.remove())
	}
	return h, nil
}

func (s *multiInformer[F]) RemoveEventHandler(handle cache.ResourceEventHandlerRegistration) error {
	h, ok := handle.(*multiHandler)
	if !ok {
		return fmt.Errorf("invalid handle of type %T: no informer of several namespaces returned it", handle)
	}
	if s.removeStep(func(st step) bool { return st.handler == h }) {
		return h.remove()
	}
	return nil
}

// errNilHandler is returned for a nil handler, in place of a panic at its first event.
var errNilHandler = errors.New("add a handler to the informers of several namespaces: the handler is nil")

func (s *multiInformer[F]) GetStore() cache.Store     { return multiIndexer[F]{s} }
func (s *multiInformer[F]) GetIndexer() cache.Indexer { return multiIndexer[F]{s} }

func (s *multiInformer[F]) AddIndexers(indexers cache.Indexers) error {
	return s.applySetting(func(child cache.SharedIndexInformer) error { return child.AddIndexers(indexers) })
}

func (s *multiInformer[F]) SetTransform(transform cache.TransformFunc) error {
	return s.applySetting(func(child cache.SharedIndexInformer) error { return child.SetTransform(transform) })
}

func (s *multiInformer[F]) SetWatchErrorHandler(handler cache.WatchErrorHandler) error {
	return s.applySetting(func(child cache.SharedIndexInformer) error {
		return child.SetWatchErrorHandler(handler)
	})
}

func (s *multiInformer[F]) SetWatchErrorHandlerWithContext(handler cache.WatchErrorHandlerWithContext) error {
	return s.applySetting(func(child cache.SharedIndexInformer) error {
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

// Ended returns a channel that is closed when the set is shut down.
func (s *multiInformer[F]) Ended() <-chan struct{} { return s.set.ended }

// IsStopped reports whether the set was shut down.
func (s *multiInformer[F]) IsStopped() bool {
	s.set.mu.RLock()
	defer s.set.mu.RUnlock()
	return s.set.stopping
}
