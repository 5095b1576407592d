package factory

import (
	"context"
	"maps"
	"slices"
	"sync"

	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/runtime/informer"
)

// Runner is the part of a generated factory that Namespaces uses.
type Runner interface {
	StartWithContext(ctx context.Context)
	Shutdown()
}

// Namespaces runs a generated factory F for each of a set of namespaces, which
// may change while they run, so that a program that may read those only, by
// RBAC, needs nothing cluster-wide. Its informers show the objects of all of them
// as one:
//
//	namespaces := factory.NewNamespaces(func(namespace string) externalversions.SharedInformerFactory {
//		return externalversions.NewSharedInformerFactoryWithOptions(client, 0, externalversions.WithNamespace(namespace))
//	})
//	pods := namespaces.Informer(func(f externalversions.SharedInformerFactory) cache.SharedIndexInformer {
//		return f.Core().V1().Pods().Informer()
//	})
//	podLister := listers.NewPodLister(pods.GetIndexer())
//	namespaces.StartWithContext(ctx)
//	namespaces.Add("one")
//
// All methods are safe for concurrent use. Remove and Shutdown wait for handlers,
// so no handler may call them.
type Namespaces[F Runner] struct {
	newFactory func(namespace string) F

	// changing is held while a namespace is added or removed: what handlers are
	// told of one ends before it begins anew. It is taken before mu.
	changing sync.Mutex
	mu       sync.RWMutex
	members  map[string]*member[F]
	all      []*multiInformer[F]
	// ctx is what everything runs with, nil before the start.
	ctx      context.Context
	stopping bool
	// ended is closed by Shutdown.
	ended chan struct{}
	// waiting counts who waits for handlers and informers to sync.
	waiting sync.WaitGroup
}

// member is the factory of a namespace.
type member[F Runner] struct {
	factory F
	ctx     context.Context
	stop    context.CancelFunc
}

// NewNamespaces returns an empty set of namespaces. newFactory makes the factory
// of one, limited to it. It panics if newFactory is nil.
func NewNamespaces[F Runner](newFactory func(namespace string) F) *Namespaces[F] {
	if newFactory == nil {
		panic("factory.NewNamespaces: the function that makes the factory of a namespace is nil")
	}
	return &Namespaces[F]{newFactory: newFactory, members: map[string]*member[F]{}, ended: make(chan struct{})}
}

// Informer returns an informer of what the informers that of returns have
// together, those of namespaces to come included. of is called once for each
// namespace and must not call back. The informer is like client-go's, but:
//
//   - Its indexer can only be read.
//   - Handlers are called one at a time, also for objects of several namespaces.
//     What of knows already when a namespace is added is told as its initial list.
//     When one is removed, handlers are told of a missed deletion of each object
//     that they know.
//   - It has synced when those of all present namespaces have; without any it has.
//     Who waits for that waits for namespaces that are added meanwhile, too, and
//     no more for those that are removed. The same goes for its handlers.
//   - Running it is the Namespaces' business: its Run methods only wait.
//   - It has no resourceVersion of its own.
//
// Informer panics if of is nil.
func (n *Namespaces[F]) Informer(of func(F) cache.SharedIndexInformer) cache.SharedIndexInformer {
	if of == nil {
		panic("factory.Namespaces.Informer: the function that asks a factory for an informer is nil")
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

// StartWithContext starts the informers of all namespaces, those that are added
// later included. They run until ctx is done. Only the first call counts.
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

// start starts what has not been started yet, if anything has.
func (m *member[F]) start() {
	if m.ctx != nil {
		m.factory.StartWithContext(m.ctx)
	}
}

// Add adds a namespace and, after StartWithContext, starts its informers. It
// doesn't wait for their sync. One that is there already is left alone. The error
// is that of a handler or an index that an informer refuses.
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

// Remove stops the informers of a namespace, waits for their end, and then tells
// handlers that what they knew of it is gone. A namespace that isn't there is no
// error.
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
		h.left(namespace)
	}
}

// end stops a factory and waits for it.
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

// Factory returns the factory of a namespace, for what is wanted of that one
// only.
func (n *Namespaces[F]) Factory(namespace string) (f F, ok bool) {
	n.mu.RLock()
	defer n.mu.RUnlock()
	m := n.members[namespace]
	if m == nil {
		return f, false
	}
	return m.factory, true
}

// WaitForSync waits, on channels, until the informers of all namespaces that are
// there by now have synced. If ctx is done before, the error is an
// *[informer.NotSyncedError] that says which have not, and why.
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

// Shutdown stops all informers, waits for their end, and starts no more. Handlers
// are not told of anything then, and listers go on showing what was known last.
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

// begin has a goroutine wait for something, until Shutdown at the latest.
func (n *Namespaces[F]) begin(wait func(over <-chan struct{})) {
	n.mu.RLock()
	defer n.mu.RUnlock()
	if !n.stopping {
		n.waiting.Go(func() { wait(n.ended) })
	}
}
