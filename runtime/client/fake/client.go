package fake

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/testing"

	"github.com/kubewright/kubewright/runtime/client"
)

// target is the resource that the actions of a client name.
type target struct {
	namespace     string
	resource      schema.GroupVersionResource
	kind          schema.GroupVersionKind
	clusterScoped bool
}

// Option says what else a fake client should know.
type Option func(*target)

// ClusterScoped says that the resource has no namespaces.
func ClusterScoped() Option {
	return func(t *target) { t.clusterScoped = true }
}

// Namespace returns the namespace that the client was made for, or "".
func (t *target) Namespace() string { return t.namespace }

// Resource returns the resource that the client's actions name.
func (t *target) Resource() schema.GroupVersionResource { return t.resource }

// Kind returns the kind of the client's objects.
func (t *target) Kind() schema.GroupVersionKind { return t.kind }

// Client records the calls for one resource, in one namespace or, where that
// is empty, of a cluster-scoped resource or across all namespaces.
type Client[T client.Object] struct {
	*testing.Fake
	target
	newObject func() T
}

// New makes the fake client of a resource. TV is the struct type of its
// objects; T follows from it.
func New[TV any, T interface {
	*TV
	client.Object
}](fake *testing.Fake, namespace string, resource schema.GroupVersionResource, kind schema.GroupVersionKind, opts ...Option) *Client[T] {
	c := &Client[T]{
		Fake:      fake,
		target:    target{namespace: namespace, resource: resource, kind: kind},
		newObject: func() T { return new(TV) },
	}
	for _, opt := range opts {
		opt(&c.target)
	}
	return c
}

// invoke records action and returns what the reactors answer, or unanswered if
// they answer with nothing. An answer of another type is a mistake in a
// reactor and panics.
func invoke[R runtime.Object](fake *testing.Fake, action testing.Action, unanswered R) (R, error) {
	answer, err := fake.Invokes(action, unanswered)
	if answer == nil {
		return unanswered, err
	}
	return answer.(R), err
}

// Get records a get.
func (c *Client[T]) Get(_ context.Context, name string, opts metav1.GetOptions) (T, error) {
	return invoke(c.Fake, testing.NewGetActionWithOptions(c.resource, c.namespace, name, opts), c.newObject())
}

// Watch records a watch and returns the stream of the first watch reactor that
// handles it.
func (c *Client[T]) Watch(_ context.Context, opts metav1.ListOptions) (watch.Interface, error) {
	opts.Watch = true
	return c.InvokesWatch(testing.NewWatchActionWithOptions(c.resource, c.namespace, opts))
}

// Create records a create.
func (c *Client[T]) Create(_ context.Context, obj T, opts metav1.CreateOptions) (T, error) {
	return invoke(c.Fake, testing.NewCreateActionWithOptions(c.resource, c.namespace, obj, opts), c.newObject())
}

// Update records an update.
func (c *Client[T]) Update(_ context.Context, obj T, opts metav1.UpdateOptions) (T, error) {
	return invoke(c.Fake, testing.NewUpdateActionWithOptions(c.resource, c.namespace, obj, opts), c.newObject())
}

// UpdateStatus records an update of the sub-resource status.
func (c *Client[T]) UpdateStatus(_ context.Context, obj T, opts metav1.UpdateOptions) (T, error) {
	return invoke(c.Fake, testing.NewUpdateSubresourceActionWithOptions(c.resource, "status", c.namespace, obj, opts), c.newObject())
}

// Delete records a delete.
func (c *Client[T]) Delete(_ context.Context, name string, opts metav1.DeleteOptions) error {
	_, err := c.Invokes(testing.NewDeleteActionWithOptions(c.resource, c.namespace, name, opts), c.newObject())
	return err
}

// Patch records a patch.
func (c *Client[T]) Patch(_ context.Context, name string, pt types.PatchType, data []byte, opts metav1.PatchOptions, subresources ...string) (T, error) {
	return invoke(c.Fake, testing.NewPatchSubresourceActionWithOptions(c.resource, c.namespace, name, pt, data, opts, subresources...), c.newObject())
}
