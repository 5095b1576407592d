package client

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/apply"

	"github.com/kubewright/kubewright/runtime/gen/internal/pointee"
)

// These functions send the requests of all clients. They decode the response into an object
// that the caller passes, so they need no type parameter and are compiled once.

// send sends a request and decodes the response.
func send(ctx context.Context, into runtime.Object, request *rest.Request) error {
	return request.Do(ctx).Into(into)
}

// write is send for requests that change an object. It records the new version in writes.
func (e *endpoint) write(ctx context.Context, into runtime.Object, request *rest.Request) error {
	err := send(ctx, into, request)
	e.wrote(into, err)
	return err
}

func (e *endpoint) read(
	ctx context.Context, name string, opts *metav1.GetOptions, into runtime.Object,
) error {
	return send(ctx, into, e.to(e.rest.Get()).
		Name(name).
		VersionedParams(opts, e.codec))
}

func (e *endpoint) create(
	ctx context.Context, obj runtime.Object, opts *metav1.CreateOptions, into runtime.Object,
) error {
	return e.write(ctx, into, e.to(e.rest.Post()).
		VersionedParams(opts, e.codec).
		Body(obj))
}

// update replaces the object of that name, or its subresource unless that is "", by obj.
func (e *endpoint) update(
	ctx context.Context, name string, obj runtime.Object, subresource string, opts *metav1.UpdateOptions,
	into runtime.Object,
) error {
	return e.write(ctx, into, e.to(e.rest.Put()).
		Name(name).
		SubResource(subresource).
		VersionedParams(opts, e.codec).
		Body(obj))
}

func (e *endpoint) patch(
	ctx context.Context, name string, pt types.PatchType, data []byte, opts *metav1.PatchOptions,
	subresources []string, into runtime.Object,
) error {
	return e.write(ctx, into, e.to(e.rest.Patch(pt)).
		Name(name).
		SubResource(subresources...).
		VersionedParams(opts, e.codec).
		Body(data))
}

// delete deletes the object of that name and records the response.
func (e *endpoint) delete(ctx context.Context, name string, opts *metav1.DeleteOptions) rest.Result {
	result := e.to(e.rest.Delete()).
		Name(name).
		Body(opts).
		Do(ctx)
	if result.Error() == nil {
		e.deleted(name, opts, result)
	}
	return result
}

// apply applies a configuration. The response goes into the object that newObject returns;
// newObject is not called if the configuration is refused before it is sent.
func (e *endpoint) apply(
	ctx context.Context, configuration Configuration, opts metav1.ApplyOptions,
	newObject func() runtime.Object, subresources ...string,
) error {
	if pointee.IsNil(configuration) {
		return errNoObject
	}
	name := configuration.GetName()
	if name == nil {
		return errNoName
	}
	request, err := apply.NewRequest(e.rest, configuration)
	if err != nil {
		return err
	}
	into := newObject()
	patchOpts := opts.ToPatchOptions()
	return e.write(ctx, into, e.to(request).
		Name(*name).
		SubResource(subresources...).
		VersionedParams(&patchOpts, e.codec))
}
