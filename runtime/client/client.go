package client

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
)

// Object is what a typed client handles: an API object with metadata.
type Object interface {
	runtime.Object
	metav1.Object
}

// Client sends the requests of one resource, in one namespace or, where that
// is empty, of a cluster-scoped resource or across all namespaces.
type Client[T Object] struct {
	endpoint
	newObject func() T
}

// New makes the client of a resource. TV is the struct type of its objects; T
// follows from it. An empty namespace is for cluster-scoped resources, which
// should have the option ClusterScoped too, and for lists and watches of all
// namespaces.
func New[TV any, T interface {
	*TV
	Object
}](rest rest.Interface, codec runtime.ParameterCodec, resource, namespace string, opts ...Option) *Client[T] {
	c := &Client[T]{
		endpoint:  endpoint{rest: rest, codec: codec, resource: resource, namespace: namespace},
		newObject: func() T { return new(TV) },
	}
	for _, opt := range opts {
		opt(&c.endpoint)
	}
	return c
}

// GetClient returns the REST client that the requests go through.
func (c *Client[T]) GetClient() rest.Interface { return c.rest }

// GetNamespace returns the namespace that the client was made for, or "".
func (c *Client[T]) GetNamespace() string { return c.namespace }

func (c *Client[T]) requester() *endpoint { return &c.endpoint }

// Get reads the object of that name.
func (c *Client[T]) Get(ctx context.Context, name string, opts metav1.GetOptions) (T, error) {
	result := c.newObject()
	err := c.to(c.rest.Get()).
		Name(name).
		VersionedParams(&opts, c.codec).
		Do(ctx).Into(result)
	return result, err
}

// Watch opens a stream of changes to the objects that opts select. It ends
// after opts.TimeoutSeconds if they are set, when the server ends it, when ctx
// is done, or by Stop.
func (c *Client[T]) Watch(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error) {
	return c.watch(ctx, opts)
}

// Create stores obj and returns it as the server has it now.
func (c *Client[T]) Create(ctx context.Context, obj T, opts metav1.CreateOptions) (T, error) {
	result := c.newObject()
	err := c.to(c.rest.Post()).
		VersionedParams(&opts, c.codec).
		Body(obj).
		Do(ctx).Into(result)
	c.wrote(result, err)
	return result, err
}

// Update replaces the object of obj's name by obj and returns it as the server
// has it now.
func (c *Client[T]) Update(ctx context.Context, obj T, opts metav1.UpdateOptions) (T, error) {
	result := c.newObject()
	err := c.to(c.rest.Put()).
		Name(obj.GetName()).
		VersionedParams(&opts, c.codec).
		Body(obj).
		Do(ctx).Into(result)
	c.wrote(result, err)
	return result, err
}

// UpdateStatus replaces the status of the object of obj's name, and nothing
// else where the resource has a status sub-resource.
func (c *Client[T]) UpdateStatus(ctx context.Context, obj T, opts metav1.UpdateOptions) (T, error) {
	result := c.newObject()
	err := c.to(c.rest.Put()).
		Name(obj.GetName()).
		SubResource("status").
		VersionedParams(&opts, c.codec).
		Body(obj).
		Do(ctx).Into(result)
	c.wrote(result, err)
	return result, err
}

// Delete asks the server to delete the object of that name. It may be gone
// only later, when its finalizers have run.
func (c *Client[T]) Delete(ctx context.Context, name string, opts metav1.DeleteOptions) error {
	result := c.to(c.rest.Delete()).
		Name(name).
		Body(&opts).
		Do(ctx)
	err := result.Error()
	if err == nil {
		c.deleted(name, &opts, result)
	}
	return err
}

// Patch changes the object of that name, or the sub-resource that the path of
// subresources leads to, and returns it as the server has it now.
func (c *Client[T]) Patch(ctx context.Context, name string, pt types.PatchType, data []byte, opts metav1.PatchOptions, subresources ...string) (T, error) {
	result := c.newObject()
	err := c.to(c.rest.Patch(pt)).
		Name(name).
		SubResource(subresources...).
		VersionedParams(&opts, c.codec).
		Body(data).
		Do(ctx).Into(result)
	c.wrote(result, err)
	return result, err
}
