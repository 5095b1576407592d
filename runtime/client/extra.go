package client

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/apply"
)

// Requester is any type that embeds one of this package's clients: the
// receiver of a generated method.
type Requester interface {
	requester() *endpoint
}

// result is the pointer to RV that a response is decoded into.
type result[RV any] interface {
	*RV
	runtime.Object
}

// GetAs reads the object of that name, or its sub-resource, as an RV.
func GetAs[RV any, R result[RV]](ctx context.Context, c Requester, name, subresource string, opts metav1.GetOptions) (R, error) {
	at, into := c.requester(), R(new(RV))
	err := at.strictlyTo(at.rest.Get()).
		Name(name).
		SubResource(subresource).
		VersionedParams(&opts, at.codec).
		Do(ctx).Into(into)
	return into, err
}

// ListAs reads the objects that opts select as an RV, or with a sub-resource
// that of the object of that name. Without one the name is not used.
func ListAs[RV any, R result[RV]](ctx context.Context, c Requester, name, subresource string, opts metav1.ListOptions) (R, error) {
	at, into := c.requester(), R(new(RV))
	request := at.strictlyTo(at.rest.Get())
	if subresource != "" {
		request = request.Name(name).SubResource(subresource)
	}
	err := request.
		VersionedParams(&opts, at.codec).
		Timeout(timeout(&opts)).
		Do(ctx).Into(into)
	return into, err
}

// CreateAs posts in to the resource, or to the sub-resource of the object of
// that name, and returns the answer as an RV. Without a sub-resource the name
// is not used.
func CreateAs[RV any, R result[RV]](ctx context.Context, c Requester, name, subresource string, in runtime.Object, opts metav1.CreateOptions) (R, error) {
	at, into := c.requester(), R(new(RV))
	request := at.strictlyTo(at.rest.Post())
	if subresource != "" {
		request = request.Name(name).SubResource(subresource)
	}
	err := request.
		VersionedParams(&opts, at.codec).
		Body(in).
		Do(ctx).Into(into)
	at.wrote(into, err)
	return into, err
}

// UpdateAs replaces the object of that name, or its sub-resource, by in and
// returns the answer as an RV.
func UpdateAs[RV any, R result[RV]](ctx context.Context, c Requester, name, subresource string, in runtime.Object, opts metav1.UpdateOptions) (R, error) {
	at, into := c.requester(), R(new(RV))
	err := at.strictlyTo(at.rest.Put()).
		Name(name).
		SubResource(subresource).
		VersionedParams(&opts, at.codec).
		Body(in).
		Do(ctx).Into(into)
	at.wrote(into, err)
	return into, err
}

// PatchAs changes the object of that name, or the sub-resource that the path
// of subresources leads to, and returns the answer as an RV.
func PatchAs[RV any, R result[RV]](ctx context.Context, c Requester, name string, pt types.PatchType, data []byte, opts metav1.PatchOptions, subresources ...string) (R, error) {
	at, into := c.requester(), R(new(RV))
	err := at.strictlyTo(at.rest.Patch(pt)).
		Name(name).
		SubResource(subresources...).
		VersionedParams(&opts, at.codec).
		Body(data).
		Do(ctx).Into(into)
	at.wrote(into, err)
	return into, err
}

// ApplyAs merges the fields that configuration sets into the object of that
// name, or into its sub-resource, and returns the answer as an RV. Without a
// sub-resource the name is the configuration's own and the argument not used.
func ApplyAs[RV any, C comparable, R result[RV]](ctx context.Context, c Requester, name, subresource string, configuration C, opts metav1.ApplyOptions) (R, error) {
	if configuration == *new(C) {
		return nil, errNoObject
	}
	if subresource == "" {
		named, ok := any(configuration).(interface{ GetName() *string })
		if !ok || named.GetName() == nil {
			return nil, errNoName
		}
		name = *named.GetName()
	}
	at, into := c.requester(), R(new(RV))
	request, err := apply.NewRequest(at.rest, configuration)
	if err != nil {
		return nil, err
	}
	patchOpts := opts.ToPatchOptions()
	err = at.strictlyTo(request).
		Name(name).
		SubResource(subresource).
		VersionedParams(&patchOpts, at.codec).
		Do(ctx).Into(into)
	at.wrote(into, err)
	return into, err
}
