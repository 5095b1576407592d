package kwsharding

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kubewright/kubewright/runtime/shard"
)

// Request is what sharded controllers reconcile.
type Request interface {
	reconcile.Request | UIDRequest
}

// UIDRequest is a request for an object that is sharded by UID. By the time it is reconciled its name may
// belong to a new object with another UID, which maybe another member owns.
type UIDRequest struct {
	types.NamespacedName
	UID types.UID
}

// String returns namespace, name and UID.
func (r UIDRequest) String() string { return r.NamespacedName.String() + " " + string(r.UID) }

// shardField returns the field by which requests are sharded.
func shardField[T Request]() shard.Field {
	var none T
	if _, byUID := any(none).(UIDRequest); byUID {
		return shard.ByUID
	}
	return shard.ByNamespace
}

// hashedValue returns the part of a request that is hashed.
func hashedValue[T Request](request T) string {
	switch request := any(request).(type) {
	case UIDRequest:
		return string(request.UID)
	case reconcile.Request:
		return request.Namespace
	}
	panic("unreachable")
}

// EnqueueUID returns a handler that enqueues the object of an event, with its UID. It is for Watches of a
// typed builder, which has no For:
//
//	builder.TypedControllerManagedBy[kwsharding.UIDRequest](mgr).Named("bakery").
//		Watches(&shopv1.Bakery{}, kwsharding.EnqueueUID())
func EnqueueUID() handler.TypedEventHandler[client.Object, UIDRequest] {
	return handler.TypedEnqueueRequestsFromMapFunc(func(_ context.Context, object client.Object) []UIDRequest {
		return []UIDRequest{{client.ObjectKeyFromObject(object), object.GetUID()}}
	})
}

// EnqueueOwnerUID returns a handler that enqueues those owners of an event's object that have owner's group
// and kind, with the UIDs of the object's owner references. Don't shard the kind of the event's object: its
// UID isn't the owner's.
func EnqueueOwnerUID(
	scheme *runtime.Scheme, mapper meta.RESTMapper, owner client.Object,
) (handler.TypedEventHandler[client.Object, UIDRequest], error) {
	kind, err := apiutil.GVKForObject(owner, scheme)
	if err != nil {
		return nil, fmt.Errorf("kwsharding: owners like %T: %w", owner, err)
	}
	namespaced, err := apiutil.IsGVKNamespaced(kind, mapper)
	if err != nil {
		return nil, fmt.Errorf("kwsharding: owners like %T: %w", owner, err)
	}
	return handler.TypedEnqueueRequestsFromMapFunc(
		func(_ context.Context, object client.Object) (requests []UIDRequest) {
			for _, reference := range object.GetOwnerReferences() {
				ownerKind := schema.FromAPIVersionAndKind(reference.APIVersion, reference.Kind)
				if ownerKind.GroupKind() != kind.GroupKind() {
					continue
				}
				request := UIDRequest{types.NamespacedName{Name: reference.Name}, reference.UID}
				if namespaced {
					request.Namespace = object.GetNamespace()
				}
				requests = append(requests, request)
			}
			return requests
		}), nil
}
