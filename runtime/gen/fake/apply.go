package fake

import (
	"context"
	"errors"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/testing"

	"github.com/kubewright/kubewright/runtime/gen/client"
	"github.com/kubewright/kubewright/runtime/gen/internal/pointee"
)

// The texts are upstream's, because tests of error paths may compare them.
var (
	errNoConfiguration = errors.New("configuration provided to Apply must not be nil")
	errNoName          = errors.New("configuration.Name must be provided to Apply")
)

// ClientWithApply is a Client of a resource that has apply configurations.
type ClientWithApply[T client.Object, C client.Configuration] struct {
	Client[T]
	applier[T, C]
}

// NewWithApply returns a fake client of a resource that has apply configurations of the
// pointer type C.
func NewWithApply[T client.Object, C client.Configuration](
	fake *testing.Fake, namespace string, resource schema.GroupVersionResource, kind schema.GroupVersionKind,
	opts ...Option,
) *ClientWithApply[T, C] {
	c := New[T](fake, namespace, resource, kind, opts...)
	return &ClientWithApply[T, C]{*c, applier[T, C]{c.at}}
}

// ClientWithListAndApply is a Client of a resource that can be listed and has
// apply configurations.
type ClientWithListAndApply[T client.Object, L runtime.Object, C client.Configuration] struct {
	Client[T]
	lister[L]
	applier[T, C]
}

// NewWithListAndApply returns a fake client of a resource that can be listed and has apply
// configurations; see NewWithList and NewWithApply.
func NewWithListAndApply[T client.Object, L runtime.Object, C client.Configuration](
	fake *testing.Fake, namespace string, resource schema.GroupVersionResource, kind schema.GroupVersionKind,
	opts ...Option,
) *ClientWithListAndApply[T, L, C] {
	c := New[T](fake, namespace, resource, kind, opts...)
	return &ClientWithListAndApply[T, L, C]{*c, lister[L]{c.at}, applier[T, C]{c.at}}
}

// applier adds server-side apply.
type applier[T client.Object, C client.Configuration] struct{ at *target }

// Apply records a patch with the configuration as JSON.
func (a *applier[T, C]) Apply(_ context.Context, configuration C, opts metav1.ApplyOptions) (T, error) {
	return as[T](a.at.apply(configuration, opts, pointee.New[T]()))
}

// ApplyStatus records a patch of the subresource status.
func (a *applier[T, C]) ApplyStatus(_ context.Context, configuration C, opts metav1.ApplyOptions) (T, error) {
	return as[T](a.at.apply(configuration, opts, pointee.New[T](), "status"))
}
