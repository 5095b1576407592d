package namespaces

import (
	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/runtime/internal/unwrap"
)

// Add adds a namespace and, if StartWithContext was called, starts its informers, whose first list then
// requests the newest state: a namespace that returns must not go back in time. It doesn't wait for their
// sync. If the namespace is in the set already, or another goroutine is adding it, Add does nothing. If an
// informer of the namespace refuses a handler or a setting, Add returns an error and adds nothing. If the
// namespace is still being removed, Add doesn't wait for that, but handlers receive the new objects after the
// deletions of the old ones.
func (n *Set[F]) Add(namespace string) error {
	a := n.begun(namespace)
	if a == nil {
		return nil
	}
	defer n.abandon(a)
	a.factory = n.newFactory(namespace)
	for !n.admit(a) {
		if err := a.setUp(n.behind(a)); err != nil {
			return err
		}
	}
	n.start(a.member)
	return nil
}

// addition is a namespace that is being added. No lock is held meanwhile: the program's functions are called.
type addition[F Factory] struct {
	*member[F]
	children map[*multiInformer[F]]*child
	// later is set if the set had been started. Handlers may know the namespace from before.
	later bool
}

// task is an informer of a set whose child is behind: the steps that it has yet to take.
type task[F Factory] struct {
	informer *multiInformer[F]
	steps    []step
}

// begun begins to add a namespace. It returns nil if the set has it.
func (n *Set[F]) begun(namespace string) *addition[F] {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.members[namespace] != nil {
		return nil
	}
	m := &member[F]{membership: &membership{
		namespace: namespace, before: n.leaving[namespace], gone: make(chan struct{})}}
	n.members[namespace] = m
	return &addition[F]{m, map[*multiInformer[F]]*child{}, n.ctx != nil}
}

// admit makes the namespace visible, and returns true, if its informers have taken all steps. It also returns
// true if the namespace was removed meanwhile.
func (n *Set[F]) admit(a *addition[F]) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.members[a.namespace] != a.member {
		return true
	}
	informers := n.informers()
	for _, s := range informers {
		if c := a.children[s]; c == nil || len(s.after(c.taken)) > 0 {
			return false
		}
	}
	for _, s := range informers {
		s.setChild(a.membership, a.children[s].informer)
	}
	a.ready = true
	n.open(a.member)
	return true
}

// behind returns what there is to do before the namespace can be admitted.
func (n *Set[F]) behind(a *addition[F]) (todo []task[F]) {
	n.mu.RLock()
	defer n.mu.RUnlock()
	for _, s := range n.informers() {
		taken := uint64(0)
		if c := a.children[s]; c != nil {
			taken = c.taken
		}
		todo = append(todo, task[F]{s, s.after(taken)})
	}
	return todo
}

// setUp makes children, and lets them take their steps.
func (a *addition[F]) setUp(todo []task[F]) error {
	for _, one := range todo {
		c := a.children[one.informer]
		if c == nil {
			c = &child{membership: a.membership, informer: one.informer.childOf(a.factory)}
			a.children[one.informer] = c
			if i, ok := unwrap.As[interface{ ListNewest() }](c.informer); ok && a.later {
				i.ListNewest() // What a handler has seen must not go back in time.
			}
		}
		for _, step := range one.steps {
			if err := step.do(a.membership, c.informer); err != nil {
				return err
			}
			c.taken = step.number
		}
	}
	return nil
}

// abandon drops what was begun, unless the namespace was admitted.
func (n *Set[F]) abandon(a *addition[F]) {
	n.mu.Lock()
	if a.ready {
		n.mu.Unlock()
		return
	}
	if n.members[a.namespace] == a.member {
		delete(n.members, a.namespace)
	}
	n.mu.Unlock()
	a.left.Store(true)
	for s := range a.children {
		for _, h := range s.handlers() {
			h.forgetInformer(a.membership)
		}
	}
}

// child is the informer of a namespace.
type child struct {
	*membership
	informer cache.SharedIndexInformer
	// taken is the number of the last step that it has taken.
	taken uint64
}
