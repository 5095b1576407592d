// Package namespaces runs a generated factory for each namespace of a [Set], which may change meanwhile, and
// shows the objects of all namespaces as one cache. Only programs that import it link it: generated code
// doesn't.
package namespaces

import (
	"context"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"weak"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/cache"
)

// Factory is a generated factory of informers, or one with these methods.
type Factory interface {
	StartWithContext(ctx context.Context)
	Shutdown()
}

// Set runs a generated factory F, which it starts and shuts down, for each of its namespaces, which may
// change while they run. The program needs permissions in these namespaces only, none for the cluster.
// The informers of a Set show the objects of all namespaces as one cache:
//
//	set := namespaces.New(func(namespace string) externalversions.SharedInformerFactory {
//		return externalversions.NewSharedInformerFactoryWithOptions(client, 0,
//			externalversions.WithNamespace(namespace))
//	})
//	pods := set.Informer(func(f externalversions.SharedInformerFactory) cache.SharedIndexInformer {
//		return f.Core().V1().Pods().Informer()
//	})
//	podLister := listers.NewPodLister(pods.GetIndexer())
//	set.StartWithContext(ctx)
//	set.Add("one")
//
// All methods are safe for concurrent use, and handlers and other callbacks may call them. Remove and
// Shutdown wait for handlers, so they don't return in a handler. After 10 s a log line names the handler.
type Set[F Factory] struct {
	newFactory func(namespace string) F

	// mu guards the fields below. Nothing of the program is called or waited for under it.
	mu sync.RWMutex
	// members also has the namespaces that are being added, which aren't ready.
	members map[string]*member[F]
	// leaving has the gone of the last membership of each namespace that is being removed.
	leaving map[string]<-chan struct{}
	all     []*combined[F]
	// pruneAt is the length of all at which those that were let go are removed from it.
	pruneAt int
	// ctx is the context of all informers, nil before the start.
	ctx      context.Context
	stopping bool
	// ended is closed by Shutdown.
	ended chan struct{}
	// waiting counts the goroutines that wait for handlers and informers to sync.
	waiting sync.WaitGroup
}

// combined is an informer of all namespaces. Unless the program holds it, it is let go.
type combined[F Factory] struct {
	informer weak.Pointer[multiInformer[F]]
	// kept is the informer while it has handlers or settings, which apply to later namespaces.
	kept *multiInformer[F]
}

// member is the factory of a namespace.
type member[F Factory] struct {
	*membership
	factory F
	// ready is set once the informers of the factory have all settings and handlers.
	ready bool
	ctx   context.Context
	stop  context.CancelFunc
}

// membership is the time of a namespace in the set, from its addition to its removal.
type membership struct {
	namespace string
	// before, if not nil, is closed when an earlier removal of the namespace has ended. Handlers are called
	// after that.
	before <-chan struct{}
	// gone is closed when the removal has ended, left is set when it begins.
	gone chan struct{}
	left atomic.Bool
}

// New returns an empty set. newFactory makes a factory that is limited to one namespace. New panics if
// newFactory is nil.
func New[F Factory](newFactory func(namespace string) F) *Set[F] {
	if newFactory == nil {
		panic("namespaces.New: the function that makes the factory of a namespace is nil")
	}
	return &Set[F]{newFactory: newFactory, members: map[string]*member[F]{},
		leaving: map[string]<-chan struct{}{}, ended: make(chan struct{})}
}

// Informer returns an informer that combines those of all namespaces, including namespaces that are added
// later. of returns the informer of a namespace's factory. It is called once for each namespace. The informer
// is like client-go's, with these differences:
//
//   - Its indexer is read-only.
//   - Calls of a handler don't overlap, even for objects of different namespaces. When a namespace is added,
//     the handler receives its objects as an initial list. When a namespace is removed, the handler receives
//     a missed deletion for each object of the namespace that it knows.
//   - It has synced when the informers of all present namespaces have, or if there is no
//     namespace. A wait for the sync includes namespaces that are added meanwhile, and
//     excludes those that are removed. The same holds for its handlers.
//   - Its Run methods only wait until they are stopped: StartWithContext of n starts it.
//   - It has no resourceVersion.
//
// Each call returns another informer. One that has no handlers, indexes and settings, and that the program
// doesn't hold, is let go: namespaces that are added later don't have it.
//
// Informer panics if of is nil.
func (n *Set[F]) Informer(of func(F) cache.SharedIndexInformer) cache.SharedIndexInformer {
	if of == nil {
		panic("namespaces.Set.Informer: the function that returns an informer of a factory is nil")
	}
	s := newMultiInformer(n, of)
	for _, m := range n.enter(s) {
		child := of(m.factory)
		n.mu.Lock()
		if n.members[m.namespace] == m {
			s.setChild(m.membership, child)
		}
		n.mu.Unlock()
		n.start(m)
	}
	return s
}

// enter adds an informer. It returns the members that are ready; the others get it before they are.
func (n *Set[F]) enter(s *multiInformer[F]) []*member[F] {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.all) >= n.pruneAt {
		n.all = slices.DeleteFunc(n.all, func(c *combined[F]) bool { return c.informer.Value() == nil })
		n.pruneAt = 2*len(n.all) + 8
	}
	s.entry = &combined[F]{informer: weak.Make(s)}
	n.all = append(n.all, s.entry)
	return n.ready()
}

// informers returns the informers that weren't let go. The caller holds mu.
func (n *Set[F]) informers() (all []*multiInformer[F]) {
	for _, c := range n.all {
		if s := c.informer.Value(); s != nil {
			all = append(all, s)
		}
	}
	return all
}

// ready returns the members that are ready. The caller holds mu.
func (n *Set[F]) ready() (all []*member[F]) {
	for _, m := range n.members {
		if m.ready {
			all = append(all, m)
		}
	}
	return all
}

// Start is like StartWithContext, with a stop channel.
func (n *Set[F]) Start(stopCh <-chan struct{}) { n.StartWithContext(wait.ContextForChannel(stopCh)) }

// StartWithContext starts the informers of all namespaces, including namespaces that are added
// later. They run until ctx is done. Only the first call has an effect.
func (n *Set[F]) StartWithContext(ctx context.Context) {
	n.mu.Lock()
	if n.ctx != nil {
		n.mu.Unlock()
		return
	}
	n.ctx = ctx
	members := n.ready()
	for _, m := range members {
		n.open(m)
	}
	n.mu.Unlock()
	for _, m := range members {
		n.start(m)
	}
}

// open gives a member its context, if the set has one. The caller holds mu.
func (n *Set[F]) open(m *member[F]) {
	if n.ctx != nil && !n.stopping {
		m.ctx, m.stop = context.WithCancel(n.ctx)
	}
}

// start starts the member's informers that are not running yet, if the member runs.
func (n *Set[F]) start(m *member[F]) {
	n.mu.RLock()
	ctx := m.ctx
	n.mu.RUnlock()
	if ctx != nil {
		m.factory.StartWithContext(ctx)
	}
}

// Remove stops the informers of a namespace, waits until they have stopped, and then reports to the handlers
// a missed deletion of each object of the namespace that they know. If the namespace isn't in the set, Remove
// only waits for earlier removals of it.
func (n *Set[F]) Remove(namespace string) {
	m, informers, earlier := n.takeOut(namespace)
	if m == nil {
		if earlier != nil {
			<-earlier
		}
		return
	}
	defer n.removed(m.membership)
	var told []*multiHandler
	var at []registeredAt
	for _, s := range informers {
		for _, h := range s.handlers() {
			if r, ok := h.forgetInformer(m.membership); ok {
				told, at = append(told, h), append(at, r)
			}
		}
	}
	m.shutdown()
	for i, h := range told {
		h.forget(at[i])
	}
}

// takeOut removes a namespace. It returns its member and the informers of it, or nil if it wasn't ready; then
// earlier is closed when the removal that goes on has ended.
func (n *Set[F]) takeOut(namespace string) (
	ready *member[F], informers []*multiInformer[F], earlier <-chan struct{},
) {
	n.mu.Lock()
	defer n.mu.Unlock()
	m, earlier := n.members[namespace], n.leaving[namespace]
	delete(n.members, namespace)
	if m == nil || !m.ready {
		return nil, nil, earlier
	}
	m.left.Store(true)
	n.leaving[namespace] = m.gone
	informers = n.informers()
	for _, s := range informers {
		s.removeChild(namespace)
	}
	return m, informers, nil
}

// removed announces that the removal of a namespace has ended.
func (n *Set[F]) removed(at *membership) {
	n.mu.Lock()
	defer n.mu.Unlock()
	close(at.gone)
	if n.leaving[at.namespace] == at.gone {
		delete(n.leaving, at.namespace)
	}
}

// shutdown stops the informers of the factory and waits until they have stopped.
func (m *member[F]) shutdown() {
	if m.stop != nil {
		m.stop()
	}
	m.factory.Shutdown()
}

// Names returns the namespaces, sorted.
func (n *Set[F]) Names() []string {
	n.mu.RLock()
	defer n.mu.RUnlock()
	var names []string
	for _, m := range n.ready() {
		names = append(names, m.namespace)
	}
	slices.Sort(names)
	return names
}

// Factory returns the factory of a namespace, to use its other informers. They cache that namespace only.
func (n *Set[F]) Factory(namespace string) (f F, ok bool) {
	n.mu.RLock()
	defer n.mu.RUnlock()
	m := n.members[namespace]
	if m == nil || !m.ready {
		return f, false
	}
	return m.factory, true
}

// Informers returns the informers of all present namespaces, as started once the set was started. The
// functions of package factory that wait for informers or report their states take a Set.
func (n *Set[F]) Informers() (started, others []cache.SharedIndexInformer) {
	n.mu.RLock()
	defer n.mu.RUnlock()
	var all []cache.SharedIndexInformer
	for _, s := range n.informers() {
		for _, c := range s.children {
			all = append(all, c.informer)
		}
	}
	if n.ctx == nil {
		return nil, all
	}
	return all, nil
}

// Shutdown stops all informers, waits until they have stopped, and starts no more. Handlers receive no
// deletions, and listers keep the last state.
func (n *Set[F]) Shutdown() {
	n.mu.Lock()
	if !n.stopping {
		n.stopping = true
		close(n.ended)
	}
	members, leaving := n.ready(), slices.Collect(maps.Values(n.leaving))
	n.mu.Unlock()
	for _, m := range members {
		m.shutdown()
	}
	for _, gone := range leaving {
		<-gone
	}
	n.waiting.Wait()
}

// startWait calls wait on a goroutine, with a channel that Shutdown closes. After Shutdown it
// does nothing.
func (n *Set[F]) startWait(wait func(over <-chan struct{})) {
	n.mu.RLock()
	defer n.mu.RUnlock()
	if !n.stopping {
		n.waiting.Go(func() { wait(n.ended) })
	}
}
