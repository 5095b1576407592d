package fake

import (
	"context"
	"encoding/json"
	"errors"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/testing"

	"github.com/kubewright/kubewright/runtime/client"
)

// Upstream's texts, which tests of error paths may compare.
var (
	errNoConfiguration = errors.New("configuration provided to Apply must not be nil")
	errNoName          = errors.New("configuration.Name must be provided to Apply")
)

// ClientWithApply is a Client of a resource that has apply configurations.
type ClientWithApply[T client.Object, C client.Configuration] struct {
	*Client[T]
	applier[T, C]
}

// NewWithApply makes the fake client of a resource that has apply
// configurations of the pointer type C.
func NewWithApply[TV any, C client.Configuration, T interface {
	*TV
	client.Object
}](fake *testing.Fake, namespace string, resource schema.GroupVersionResource, kind schema.GroupVersionKind, opts ...Option) *ClientWithApply[T, C] {
	c := New[TV, T](fake, namespace, resource, kind, opts...)
	return &ClientWithApply[T, C]{Client: c, applier: applier[T, C]{c}}
}

// ClientWithListAndApply is a Client of a resource that can be listed and has
// apply configurations.
type ClientWithListAndApply[T client.Object, L runtime.Object, C client.Configuration] struct {
	*Client[T]
	lister[L]
	applier[T, C]
}

// NewWithListAndApply makes the fake client of a resource that can be listed
// and has apply configurations; see NewWithList and NewWithApply.
func NewWithListAndApply[TV, LV any, C client.Configuration, T interface {
	*TV
	client.Object
}, L interface {
	*LV
	runtime.Object
}](fake *testing.Fake, namespace string, resource schema.GroupVersionResource, kind schema.GroupVersionKind, opts ...Option) *ClientWithListAndApply[T, L, C] {
	c := New[TV, T](fake, namespace, resource, kind, opts...)
	return &ClientWithListAndApply[T, L, C]{
		Client:  c,
		lister:  newLister[LV, L](fake, &c.target),
		applier: applier[T, C]{c},
	}
}

// applier adds server-side apply.
type applier[T client.Object, C client.Configuration] struct {
	on *Client[T]
}

// Apply records a patch with the configuration as JSON.
func (a *applier[T, C]) Apply(ctx context.Context, configuration C, opts metav1.ApplyOptions) (T, error) {
	return a.apply(ctx, configuration, opts)
}

// ApplyStatus records a patch of the sub-resource status.
func (a *applier[T, C]) ApplyStatus(ctx context.Context, configuration C, opts metav1.ApplyOptions) (T, error) {
	return a.apply(ctx, configuration, opts, "status")
}

func (a *applier[T, C]) apply(ctx context.Context, configuration C, opts metav1.ApplyOptions, subresources ...string) (T, error) {
	var none T
	if any(configuration) == any(*new(C)) {
		return none, errNoConfiguration
	}
	data, err := json.Marshal(configuration)
	if err != nil {
		return none, err
	}
	name := configuration.GetName()
	if name == nil {
		return none, errNoName
	}
	return a.on.Patch(ctx, *name, types.ApplyPatchType, data, opts.ToPatchOptions(), subresources...)
}
