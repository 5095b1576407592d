package fake

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/testing"

	"github.com/kubewright/kubewright/runtime/gen/client"
	"github.com/kubewright/kubewright/runtime/gen/internal/pointee"
)

// Option configures a fake client.
type Option func(*target)

// ClusterScoped marks the client's resource as cluster-scoped.
func ClusterScoped() Option {
	return func(t *target) { t.clusterScoped = true }
}

// Client records the calls for a resource, in one namespace. If the namespace is empty, the resource is
// cluster-scoped, or calls are for all namespaces. Its methods are safe for concurrent use.
type Client[T client.Object] struct{ untyped }

// New returns a fake client of a resource. T is the type of its objects and must be a
// pointer to a struct.
func New[T client.Object](
	fake *testing.Fake, namespace string, resource schema.GroupVersionResource, kind schema.GroupVersionKind,
	opts ...Option,
) *Client[T] {
	return &Client[T]{untyped{fake, newTarget(fake, namespace, resource, kind, opts)}}
}

// as converts a reactor's answer to an R. A nil answer becomes a nil R. as panics at an
// answer of another type, which is a mistake in the reactor.
func as[R runtime.Object](answer runtime.Object, err error) (R, error) {
	if answer == nil {
		return *new(R), err
	}
	return answer.(R), err
}

// Get records a get.
func (c *Client[T]) Get(_ context.Context, name string, opts metav1.GetOptions) (T, error) {
	return as[T](c.at.get(name, opts, pointee.New[T]()))
}

// Create records a create.
func (c *Client[T]) Create(_ context.Context, obj T, opts metav1.CreateOptions) (T, error) {
	return as[T](c.at.create(obj, opts, pointee.New[T]()))
}

// Update records an update.
func (c *Client[T]) Update(_ context.Context, obj T, opts metav1.UpdateOptions) (T, error) {
	return as[T](c.at.update("", obj, opts, pointee.New[T]()))
}

// UpdateStatus records an update of the subresource status.
func (c *Client[T]) UpdateStatus(_ context.Context, obj T, opts metav1.UpdateOptions) (T, error) {
	return as[T](c.at.update("status", obj, opts, pointee.New[T]()))
}

// Patch records a patch.
func (c *Client[T]) Patch(
	_ context.Context, name string, pt types.PatchType, data []byte, opts metav1.PatchOptions,
	subresources ...string,
) (T, error) {
	return as[T](c.at.patch(name, pt, data, opts, subresources, pointee.New[T]()))
}

// untyped has the methods of a client that need no type parameter. Fake is not embedded:
// the compiler would generate its methods, and those of the lock in it, for each typed client,
// which would double the size of a package of fakes and add half to its compile time.
type untyped struct {
	Fake *testing.Fake
	at   *target
}

// Namespace returns the namespace that the client was made for, or "".
func (c *untyped) Namespace() string { return c.at.namespace }

// Resource returns the resource that the client's actions name.
func (c *untyped) Resource() schema.GroupVersionResource { return c.at.resource }

// Kind returns the kind of the client's objects.
func (c *untyped) Kind() schema.GroupVersionKind { return c.at.kind }

func (c *untyped) recorder() *target { return c.at }

// Watch records a watch and returns the stream of the first watch reactor that
// handles it.
func (c *untyped) Watch(_ context.Context, opts metav1.ListOptions) (watch.Interface, error) {
	opts.Watch = true
	return c.at.fake.InvokesWatch(testing.NewWatchActionWithOptions(c.at.resource, c.at.namespace, opts))
}

// Delete records a delete.
func (c *untyped) Delete(_ context.Context, name string, opts metav1.DeleteOptions) error {
	_, err := c.at.fake.Invokes(testing.NewDeleteActionWithOptions(c.at.resource, c.at.namespace, name, opts),
		nil)
	return err
}

// DeleteCollection records a delete-collection.
func (c *untyped) DeleteCollection(
	_ context.Context, opts metav1.DeleteOptions, listOpts metav1.ListOptions,
) error {
	_, err := c.at.fake.Invokes(
		testing.NewDeleteCollectionActionWithOptions(c.at.resource, c.at.namespace, opts, listOpts), nil)
	return err
}

// Written reports no writes, see [client.Writing]: a fake's objects have no versions
// unless a test sets them, so there is nothing to wait for.
func (c *untyped) Written(string, uint64) (client.Written, bool) {
	return client.Written{}, true
}
