package load

import (
	"sync/atomic"

	"k8s.io/client-go/tools/cache"

	shopv1 "github.com/kubewright/kubewright/examples/apis/shop/v1"
)

// quick is a handler that keeps up.
type quick struct {
	lags
	calls atomic.Int64 // without the initial list
	last  chan struct{}
}

func newQuick() *quick { return &quick{last: make(chan struct{})} }

func (q *quick) OnAdd(obj any, isInInitialList bool) {
	b := obj.(*shopv1.Bakery)
	if isInInitialList {
		return
	}
	q.told(b)
	if b.Name == marker {
		close(q.last)
	}
}

func (q *quick) OnUpdate(_, obj any) { q.told(obj.(*shopv1.Bakery)) }

func (q *quick) OnDelete(any) { q.calls.Add(1) }

func (q *quick) told(b *shopv1.Bakery) {
	q.calls.Add(1)
	q.add(lagOf(b))
}

// blocked is a handler that takes the initial list, and then blocks in the first call until it is released.
type blocked struct {
	released chan struct{}
	versions map[string]string // of the objects that it was called with
	last     chan struct{}
}

func newBlocked() *blocked {
	return &blocked{released: make(chan struct{}), versions: map[string]string{}, last: make(chan struct{})}
}

func (h *blocked) OnAdd(obj any, isInInitialList bool) {
	b := obj.(*shopv1.Bakery)
	if !isInInitialList {
		<-h.released
	}
	h.versions[b.Name] = b.ResourceVersion
	if b.Name == marker {
		close(h.last)
	}
}

func (h *blocked) OnUpdate(_, obj any) {
	<-h.released
	b := obj.(*shopv1.Bakery)
	h.versions[b.Name] = b.ResourceVersion
}

func (h *blocked) OnDelete(obj any) {
	<-h.released
	if gone, missed := obj.(cache.DeletedFinalStateUnknown); missed {
		obj = gone.Obj
	}
	delete(h.versions, obj.(*shopv1.Bakery).Name)
}
