package engine

import (
	"slices"
	"sync/atomic"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/runtime/internal/observe"
	"github.com/kubewright/kubewright/runtime/internal/store"
)

// observers are those of [observe.Cache]. Without one, a step of the writer costs one load.
type observers struct {
	list atomic.Pointer[[]observe.Observer]
}

func (o *observers) add(one observe.Observer) {
	for {
		old := o.list.Load()
		list := []observe.Observer{one}
		if old != nil {
			list = append(slices.Clone(*old), one)
		}
		if o.list.CompareAndSwap(old, &list) {
			return
		}
	}
}

func (o *observers) each(do func(observe.Observer)) {
	if list := o.list.Load(); list != nil {
		for _, one := range *list {
			do(one)
		}
	}
}

// tellVersion tells the observers of the version of the store, which may have changed.
func (i *engine[K]) tellVersion() {
	if i.observers.list.Load() == nil {
		return
	}
	if i.showsNothing() {
		i.observers.each(observe.Observer.Voided)
		return
	}
	version := i.store.ResourceVersion()
	i.observers.each(func(o observe.Observer) { o.Reached(version) })
}

// tellRemovals tells the observers of the objects that changes have removed or replaced.
func (i *engine[K]) tellRemovals(changes []store.Change[K]) {
	i.observers.each(func(o observe.Observer) {
		if !o.WantsRemovals() {
			return
		}
		for n := range changes {
			c := &changes[n]
			if c.Old == nil {
				continue
			}
			uid := uidOf(c.Old)
			if c.Type == store.Deleted || uid != uidOf(c.Object) {
				o.Removed(i.config.Keys.String(c.Key), uid)
			}
		}
	})
}

// The methods of [observe.Cache].

func (s *shared[K]) Observe(o observe.Observer) {
	if o != nil {
		s.core.observers.add(o)
	}
}

func (s *shared[K]) Version() string { return s.core.store.ResourceVersion() }

func (s *shared[K]) Resource() schema.GroupVersionResource {
	s.core.mu.Lock()
	defer s.core.mu.Unlock()
	return s.core.resource()
}

func (s *shared[K]) Running() bool {
	s.core.mu.Lock()
	defer s.core.mu.Unlock()
	return s.core.started && !s.core.stopped
}

func (s *shared[K]) Key(namespace, name string) string {
	return cache.NewObjectName(namespace, name).String()
}

func (s *shared[K]) UID(key string) (uid types.UID, found bool) {
	obj, found := s.core.find(key)
	return uidOf(obj), found
}

func (s *shared[K]) Scope() (scope observe.Scope) {
	if source, ok := s.core.config.Source.(interface{ Scope() observe.Scope }); ok {
		scope = source.Scope()
	}
	if s.core.config.Namespace != "" {
		scope.Namespace = s.core.config.Namespace
	}
	scope.Part = s.core.selection != nil
	return scope
}

func (s *shared[K]) Selects(obj metav1.Object) bool {
	return s.core.selection == nil || s.core.selection.Selects(obj)
}
