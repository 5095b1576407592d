package factory

import (
	"context"
	"maps"
	"slices"
	"sync"

	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/runtime/informer"
)

// runner is what [Namespaces] needs of a factory.
type runner interface {
	StartWithContext(ctx context.Context)
	Shutdown()
}

// Namespaces runs a generated factory F, which it starts and shuts down, for each namespace of a set, which
// may change while they run. The program needs permissions in these namespaces only, none for the cluster.
// The informers of Namespaces show the objects of all namespaces as one cache:
//
//	namespaces := factory.NewNamespaces(func(namespace string) externalversions.SharedInformerFactory {
//		return externalversions.NewSharedInformerFactoryWithOptions(client, 0,
//			externalversions.WithNamespace(namespace))
//	})
//	pods := namespaces.Informer(func(f externalversions.SharedInformerFactory) cache.SharedIndexInformer {
//		return f.Core().V1().Pods().Informer()
//	})
//	podLister := listers.NewPodLister(pods.GetIndexer())
//	namespaces.StartWithContext(ctx)
//	namespaces.Add("one")
//
// All methods are safe for concurrent use. Remove and Shutdown wait for handlers, so a
// handler must not call them.
type Namespaces[F runner] struct {
	newFactory func(namespace string) F

	// changing is held while a namespace is added or removed, so that handlers have
	// received all deletions of a removed namespace before it can be added again. It is
	// taken before mu.
	changing sync.Mutex
	mu       sync.RWMutex
	members  map[string]*member[F]
	all      []*multiInformer[F]
	// ctx is the context of all informers, nil before the start.
	ctx      context.Context
	stopping bool
	// ended is closed by Shutdown.
	ended chan struct{}
	// waiting counts the goroutines that wait for handlers and informers to sync.
	waiting sync.WaitGroup
}

// member is the factory of a namespace.
type member[F runner] struct {
	factory F
	ctx     context.Context
	stop    context.CancelFunc
}

// NewNamespaces returns an empty set of namespaces. newFactory makes a factory that is
// limited to one namespace. NewNamespaces panics if newFactory is nil.
func NewNamespaces[F runner](newFactory func(namespace string) F) *Namespaces[F] {
	if newFactory == nil {
		panic("factory.NewNamespaces: the function that makes the factory of a namespace is nil")
	}
	return &Namespaces[F]{newFactory: newFactory, members: map[string]*member[F]{},
		ended: make(chan struct{})}
}

// Informer returns an informer that combines those of all namespaces, including namespaces that are added
// later. of returns the informer of a namespace's factory. It is called once for each namespace and must not
// call methods of n. The informer is like client-go's, with these differences:
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
// Informer panics if of is nil.
func (n *Namespaces[F]) Informer(of func(F) cache.SharedIndexInformer) cache.SharedIndexInformer {
	if of == nil {
		panic("factory.Namespaces.Informer: the function that returns an informer of a factory is nil")
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	s := &multiInformer[F]{set: n, of: of, children: map[string]cache.SharedIndexInformer{}}
	s.synced = newMultiChecker(s.checkers, n.begin)
	n.all = append(n.all, s)
	for namespace, m := range n.members {
		s.children[namespace] = of(m.factory)
		m.start()
	}
	return s
}

// StartWithContext starts the informers of all namespaces, including namespaces that are added
// later. They run until ctx is done. Only the first call has an effect.
func (n *Namespaces[F]) StartWithContext(ctx context.Context) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.ctx != nil {
		return
	}
	n.ctx = ctx
	for _, m := range n.members {
		n.run(m)
	}
}

// run starts a member. The caller holds mu.
func (n *Namespaces[F]) run(m *member[F]) {
	if n.ctx != nil && !n.stopping {
		m.ctx, m.stop = context.WithCancel(n.ctx)
		m.start()
	}
}

// start starts the member's informers that are not running yet, if the member runs.
func (m *member[F]) start() {
	if m.ctx != nil {
		m.factory.StartWithContext(m.ctx)
	}
}

// Add adds a namespace and, if StartWithContext was called, starts its informers. It doesn't
// wait for their sync. If the namespace is in the set already, Add does nothing. If an informer
// of the namespace refuses a handler or a setting, Add returns an error and adds nothing.
func (n *Namespaces[F]) Add(namespace string) error {
	n.changing.Lock()
	defer n.changing.Unlock()
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.members[namespace] != nil {
		return nil
	}
	m := &member[F]{factory: n.newFactory(namespace)}
	for _, s := range n.all {
		if err := s.adopt(namespace, s.of(m.factory)); err != nil {
			for _, s := range n.all {
				s.leave(namespace)
			}
			return err
		}
	}
	n.members[namespace] = m
	n.run(m)
	return nil
}

// Remove stops the informers of a namespace, waits until they have stopped, and then reports to the handlers
// a missed deletion of each object of the namespace that they know. If the namespace isn't in the set, Remove
// does nothing.
func (n *Namespaces[F]) Remove(namespace string) {
	n.changing.Lock()
	defer n.changing.Unlock()
	n.mu.Lock()
	m := n.members[namespace]
	if m == nil {
		n.mu.Unlock()
		return
	}
	delete(n.members, namespace)
	var handlers []*multiHandler
	for _, s := range n.all {
		s.leave(namespace)
		handlers = append(handlers, s.handlers...)
	}
	n.mu.Unlock()
	m.end()
	for _, h := range handlers {
		h.forget(namespace)
	}
}

// end stops the informers of the factory and waits until they have stopped.
func (m *member[F]) end() {
	if m.stop != nil {
		m.stop()
	}
	m.factory.Shutdown()
}

// Names returns the namespaces, sorted.
func (n *Namespaces[F]) Names() []string {
	n.mu.RLock()
	defer n.mu.RUnlock()
	return slices.Sorted(maps.Keys(n.members))
}

// Factory returns the factory of a namespace, to use its other informers. They cache that namespace only.
func (n *Namespaces[F]) Factory(namespace string) (f F, ok bool) {
	n.mu.RLock()
	defer n.mu.RUnlock()
	m := n.members[namespace]
	if m == nil {
		return f, false
	}
	return m.factory, true
}

// WaitForSync waits, without polling, until the informers of all present namespaces have synced. If ctx is
// done first, it returns an *[informer.NotSyncedError], which describes which have not synced, and why.
func (n *Namespaces[F]) WaitForSync(ctx context.Context) error {
	n.mu.RLock()
	var all []cache.SharedInformer
	for _, s := range n.all {
		for _, child := range s.children {
			all = append(all, child)
		}
	}
	n.mu.RUnlock()
	return informer.WaitForSync(ctx, all...)
}

// Shutdown stops all informers, waits until they have stopped, and starts no more. Handlers receive no
// deletions, and listers keep the last state.
func (n *Namespaces[F]) Shutdown() {
	n.changing.Lock()
	defer n.changing.Unlock()
	n.mu.Lock()
	if !n.stopping {
		n.stopping = true
		close(n.ended)
	}
	members := slices.Collect(maps.Values(n.members))
	n.mu.Unlock()
	for _, m := range members {
		m.end()
	}
	n.waiting.Wait()
}

// begin calls wait on a goroutine, with a channel that Shutdown closes. After Shutdown it
// does nothing.
func (n *Namespaces[F]) begin(wait func(over <-chan struct{})) {
	n.mu.RLock()
	defer n.mu.RUnlock()
	if !n.stopping {
		n.waiting.Go(func() { wait(n.ended) })
	}
}
