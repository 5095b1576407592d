package client

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/apply"

	"github.com/kubewright/kubewright/runtime/gen/internal/pointee"
)

// Requester is a type that embeds one of this package's clients: the receiver of a
// generated method.
type Requester interface {
	requester() *endpoint
}

// GetAs reads the object with that name, or its subresource, as an R.
func GetAs[R runtime.Object](
	ctx context.Context, c Requester, name, subresource string, opts metav1.GetOptions,
) (R, error) {
	at, into := c.requester(), pointee.New[R]()
	return into, send(ctx, into, at.strictlyTo(at.rest.Get()).
		Name(name).
		SubResource(subresource).
		VersionedParams(&opts, at.codec))
}

// ListAs reads the objects that opts selects as an R. With a subresource it reads the subresource of the
// object with that name; without one it ignores the name.
func ListAs[R runtime.Object](
	ctx context.Context, c Requester, name, subresource string, opts metav1.ListOptions,
) (R, error) {
	at, into := c.requester(), pointee.New[R]()
	request := at.strictlyTo(at.rest.Get())
	if subresource != "" {
		request = request.Name(name).SubResource(subresource)
	}
	return into, send(ctx, into, request.
		VersionedParams(&opts, at.codec).
		Timeout(timeout(&opts)))
}

// CreateAs posts in to the resource and returns the response as an R. With a subresource it posts to the
// subresource of the object with that name; without one it ignores the name.
func CreateAs[R runtime.Object](
	ctx context.Context, c Requester, name, subresource string, in runtime.Object, opts metav1.CreateOptions,
) (R, error) {
	at, into := c.requester(), pointee.New[R]()
	request := at.strictlyTo(at.rest.Post())
	if subresource != "" {
		request = request.Name(name).SubResource(subresource)
	}
	return into, at.write(ctx, into, request.
		VersionedParams(&opts, at.codec).
		Body(in))
}

// UpdateAs replaces the object with that name, or its subresource, by in and returns the response as an R.
func UpdateAs[R runtime.Object](
	ctx context.Context, c Requester, name, subresource string, in runtime.Object, opts metav1.UpdateOptions,
) (R, error) {
	at, into := c.requester(), pointee.New[R]()
	return into, at.write(ctx, into, at.strictlyTo(at.rest.Put()).
		Name(name).
		SubResource(subresource).
		VersionedParams(&opts, at.codec).
		Body(in))
}

// PatchAs changes the object with that name, or the subresource at the path of subresources, and returns the
// response as an R.
func PatchAs[R runtime.Object](
	ctx context.Context, c Requester, name string, pt types.PatchType, data []byte, opts metav1.PatchOptions,
	subresources ...string,
) (R, error) {
	at, into := c.requester(), pointee.New[R]()
	return into, at.write(ctx, into, at.strictlyTo(at.rest.Patch(pt)).
		Name(name).
		SubResource(subresources...).
		VersionedParams(&opts, at.codec).
		Body(data))
}

// ApplyAs merges the fields that configuration sets into the object with that name, or into its subresource,
// and returns the response as an R. Without a subresource it uses the configuration's name and ignores name.
func ApplyAs[R runtime.Object, C any](
	ctx context.Context, c Requester, name, subresource string, configuration C, opts metav1.ApplyOptions,
) (R, error) {
	if any(configuration) == any(*new(C)) {
		return *new(R), errNoObject
	}
	if subresource == "" {
		named, ok := any(configuration).(interface{ GetName() *string })
		if !ok || named.GetName() == nil {
			return *new(R), errNoName
		}
		name = *named.GetName()
	}
	at, into := c.requester(), pointee.New[R]()
	request, err := apply.NewRequest(at.rest, configuration)
	if err != nil {
		return *new(R), err
	}
	patchOpts := opts.ToPatchOptions()
	return into, at.write(ctx, into, at.strictlyTo(request).
		Name(name).
		SubResource(subresource).
		VersionedParams(&patchOpts, at.codec))
}
