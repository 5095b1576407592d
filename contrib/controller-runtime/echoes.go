package kwctrl

import (
	"context"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// SkipEchoes returns a handler that adds what another one adds, but no request for an echo of the request's
// own writes: package [ownwrites] says which notifications are echoes, and who must not use it. The tracker
// has SkipEchoes, and the controller's options are those of [OwnWrites]; otherwise nothing is skipped.
//
//	Watches(&corev1.Secret{}, kwctrl.SkipEchoes(handler.EnqueueRequestsFromMapFunc(secretToBakery)))
//
// For the handlers of For and Owns there is [NotEcho].
//
// [ownwrites]: https://pkg.go.dev/github.com/kubewright/kubewright/runtime/ownwrites
func SkipEchoes[O any, T comparable](h handler.TypedEventHandler[O, T]) handler.TypedEventHandler[O, T] {
	return echoSkipping[O, T]{h}
}

// echoSkipping is a handler. Its deletions and generic events are those of the inner one.
type echoSkipping[O any, T comparable] struct {
	handler.TypedEventHandler[O, T]
}

func (h echoSkipping[O, T]) Create(
	ctx context.Context, e event.TypedCreateEvent[O], q workqueue.TypedRateLimitingInterface[T],
) {
	if !e.IsInInitialList {
		q = forChange(q, nil, e.Object)
	}
	h.TypedEventHandler.Create(ctx, e, q)
}

func (h echoSkipping[O, T]) Update(
	ctx context.Context, e event.TypedUpdateEvent[O], q workqueue.TypedRateLimitingInterface[T],
) {
	h.TypedEventHandler.Update(ctx, e, forChange(q, e.ObjectOld, e.ObjectNew))
}

// skipping is a queue that knows echoes, such as those of OwnWrites.
type skipping[T comparable] interface {
	priorityqueue.PriorityQueue[T]
	Skips(request T, old, changed any) bool
}

// forChange returns a queue for what is added because of one change.
func forChange[T comparable](
	q workqueue.TypedRateLimitingInterface[T], old, changed any,
) workqueue.TypedRateLimitingInterface[T] {
	if s, ok := q.(skipping[T]); ok {
		return changeQueue[T]{s, old, changed}
	}
	return q
}

// changeQueue adds what is not an echo of a change. All other methods are the queue's.
type changeQueue[T comparable] struct {
	skipping[T]
	old, changed any
}

func (q changeQueue[T]) Add(request T) {
	if !q.Skips(request, q.old, q.changed) {
		q.skipping.Add(request)
	}
}

func (q changeQueue[T]) AddWithOpts(o priorityqueue.AddOpts, requests ...T) {
	for _, request := range requests {
		if o.After > 0 || o.RateLimited || !q.Skips(request, q.old, q.changed) {
			q.skipping.AddWithOpts(o, request)
		}
	}
}

// NotEcho returns a predicate for For and Owns, which drops creations and updates that are echoes for all
// requests that keys returns of the object, and of that before an update. The reconciler is that of
// [OwnWrites]; keys returns what the handler adds:
//
//	own := func(o client.Object) []reconcile.Request {
//		return []reconcile.Request{{NamespacedName: client.ObjectKeyFromObject(o)}}
//	}
//	For(&shopv1.Bakery{}, builder.WithPredicates(kwctrl.NotEcho(r, own)))
//
// It has no effect with another reconciler, or without SkipEchoes of the tracker. See also [SkipEchoes].
func NotEcho[T comparable](r reconcile.TypedReconciler[T], keys func(client.Object) []T) predicate.Predicate {
	w, ok := r.(*ownWriting[T])
	if !ok {
		return predicate.Funcs{}
	}
	passes := func(old any, changed client.Object, objects ...client.Object) bool {
		q := w.queue.Load()
		if q == nil {
			return true
		}
		skips, asked := true, map[T]bool{} // Each key is asked, once: one that is kept is added later.
		for _, o := range objects {
			for _, key := range keys(o) {
				if !asked[key] {
					asked[key] = true
					skips = q.Skips(key, old, changed) && skips
				}
			}
		}
		return !skips
	}
	return predicate.Funcs{
		CreateFunc: func(e event.CreateEvent) bool {
			return e.IsInInitialList || passes(nil, e.Object, e.Object)
		},
		UpdateFunc: func(e event.UpdateEvent) bool {
			return passes(e.ObjectOld, e.ObjectNew, e.ObjectOld, e.ObjectNew) // A former owner is told, too.
		},
	}
}
