package workqueue

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/runtime/queue"
)

// Enqueue returns a handler that adds keys to a queue. It calls keys with the object before and after each
// change. For a new object old is the zero value of O. For a deleted object changed is the zero value, and
// old is its last known state. If keys depend on what the object says, return those of both.
//
// If the queue was made by ownwrites.NewQueue with a tracker that has SkipEchoes, keys are not added for
// echoes, see package ownwrites; additions because of the initial list, resyncs and deletions are never
// skipped. Objects of another type than O are reported to utilruntime. It panics if the queue is nil.
func Enqueue[T comparable, O any](
	q *queue.Queue[T], keys func(old, changed O) []T,
) cache.ResourceEventHandler {
	if q == nil {
		panic("workqueue: Enqueue needs a queue, got nil; AsQueue returns nil for the queues of other packages")
	}
	return enqueuer[T, O]{q, keys}
}

type enqueuer[T comparable, O any] struct {
	queue *queue.Queue[T]
	keys  func(old, changed O) []T
}

func (e enqueuer[T, O]) OnAdd(obj any, isInInitialList bool) {
	var none O
	if changed, ok := objectAs[O](obj); ok {
		for _, key := range e.keys(none, changed) {
			if isInInitialList || !e.queue.Skips(key, nil, obj) {
				e.add(key, "addition", obj)
			}
		}
	}
}

func (e enqueuer[T, O]) OnUpdate(oldObj, obj any) {
	old, ok := objectAs[O](oldObj)
	if !ok {
		return
	}
	if changed, ok := objectAs[O](obj); ok {
		for _, key := range e.keys(old, changed) {
			if !e.queue.Skips(key, oldObj, obj) {
				e.add(key, "update", obj)
			}
		}
	}
}

func (e enqueuer[T, O]) OnDelete(obj any) {
	var none O
	if gone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		obj = gone.Obj
	}
	if old, ok := objectAs[O](obj); ok {
		for _, key := range e.keys(old, none) {
			e.add(key, "deletion", obj)
		}
	}
}

// add adds a key because of a notification.
func (e enqueuer[T, O]) add(key T, of string, obj any) {
	if e.queue.Kept(key) {
		what := fmt.Sprintf("wanted because of the %s of a %T", of, obj)
		if object, ok := obj.(metav1.Object); ok {
			what += fmt.Sprintf(" %s, version %s", cache.MetaObjectToName(object), object.GetResourceVersion())
		}
		e.queue.Note(key, what)
	}
	e.queue.Add(key)
}

func objectAs[O any](obj any) (O, bool) {
	o, ok := obj.(O)
	if !ok {
		utilruntime.HandleErrorWithContext(context.Background(), fmt.Errorf("got %T, want %T", obj, o),
			"A notification has an object of another type, so no key is added")
	}
	return o, ok
}
