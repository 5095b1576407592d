package client

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"

	"github.com/kubewright/kubewright/runtime/gen/internal/pointee"
)

// Object is an API object with metadata.
type Object interface {
	runtime.Object
	metav1.Object
}

// Client sends the requests for a resource, in one namespace. If the namespace is empty, the resource is
// cluster-scoped, or requests are for all namespaces. Its methods are safe for concurrent use.
type Client[T Object] struct{ untyped }

// New returns a client of a resource. T is the type of its objects and must be a pointer to a struct. The
// namespace is empty for cluster-scoped resources, which should also have the option ClusterScoped, and for
// lists and watches of all namespaces.
func New[T Object](
	rest rest.Interface, codec runtime.ParameterCodec, resource, namespace string, opts ...Option,
) *Client[T] {
	return &Client[T]{untyped{newEndpoint(rest, codec, resource, namespace, nil, opts)}}
}

// Get reads the object with that name.
func (c *Client[T]) Get(ctx context.Context, name string, opts metav1.GetOptions) (T, error) {
	result := pointee.New[T]()
	return result, c.at.read(ctx, name, &opts, result)
}

// Create creates obj and returns the object as stored.
func (c *Client[T]) Create(ctx context.Context, obj T, opts metav1.CreateOptions) (T, error) {
	result := pointee.New[T]()
	return result, c.at.create(ctx, obj, &opts, result)
}

// Update replaces the object with obj's name by obj and returns the object as stored.
func (c *Client[T]) Update(ctx context.Context, obj T, opts metav1.UpdateOptions) (T, error) {
	result := pointee.New[T]()
	return result, c.at.update(ctx, obj.GetName(), obj, "", &opts, result)
}

// UpdateStatus replaces the status of the object with obj's name by obj's. It changes nothing else if the
// resource has a status subresource.
func (c *Client[T]) UpdateStatus(ctx context.Context, obj T, opts metav1.UpdateOptions) (T, error) {
	result := pointee.New[T]()
	return result, c.at.update(ctx, obj.GetName(), obj, "status", &opts, result)
}

// Patch changes the object with that name, or the subresource at the path of subresources, and returns the
// response.
func (c *Client[T]) Patch(
	ctx context.Context, name string, pt types.PatchType, data []byte, opts metav1.PatchOptions,
	subresources ...string,
) (T, error) {
	result := pointee.New[T]()
	return result, c.at.patch(ctx, name, pt, data, &opts, subresources, result)
}

// untyped has the methods of a client that need no type parameter, so that they are
// compiled once.
type untyped struct{ at *endpoint }

// GetClient returns the REST client that the requests go through.
func (c *untyped) GetClient() rest.Interface { return c.at.rest }

// GetNamespace returns the namespace that the client was made for, or "".
func (c *untyped) GetNamespace() string { return c.at.namespace }

func (c *untyped) requester() *endpoint { return c.at }

// Watch opens a stream of changes to the objects that opts select. The stream ends after
// opts.TimeoutSeconds, if set, when the server ends it, when ctx is done, or by Stop.
func (c *untyped) Watch(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error) {
	opts.Watch = true
	return c.at.collection(c.at.rest, &opts).Watch(ctx)
}

// Delete requests the deletion of the object with that name. An object with finalizers exists until they have
// been removed.
func (c *untyped) Delete(ctx context.Context, name string, opts metav1.DeleteOptions) error {
	return c.at.delete(ctx, name, &opts).Error()
}

// DeleteCollection deletes the objects that listOpts selects.
func (c *untyped) DeleteCollection(
	ctx context.Context, opts metav1.DeleteOptions, listOpts metav1.ListOptions,
) error {
	return c.at.to(c.at.rest.Delete()).
		VersionedParams(&listOpts, c.at.codec).
		Timeout(timeout(&listOpts)).
		Body(&opts).
		Do(ctx).Error()
}

// Written returns the writes that were made through the client, see [Writing].
func (c *untyped) Written(namespace string, after uint64) (Written, bool) {
	return c.WrittenSince(namespace, 0, after)
}

// WrittenSince is like Written, without the writes and deletions up to the sequence number restored: the
// cache that asks shows them, or a restore of the server has undone them.
func (c *untyped) WrittenSince(namespace string, restored, after uint64) (Written, bool) {
	if c.at.writes == nil {
		return Written{}, false
	}
	return c.at.writes.forResource(c.at.resource).since(c.at.namespace, namespace, restored, after), true
}
