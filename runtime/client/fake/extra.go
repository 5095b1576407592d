package fake

import (
	"context"
	"encoding/json"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/testing"
)

// Recorder is any type that embeds one of this package's clients: the receiver
// of a generated method.
type Recorder interface {
	recorder() (*testing.Fake, *target)
}

func (c *Client[T]) recorder() (*testing.Fake, *target) { return c.Fake, &c.target }

// result is the pointer to RV that an answer must be.
type result[RV any] interface {
	*RV
	runtime.Object
}

// GetAs records a get of the object of that name, or of its sub-resource.
func GetAs[RV any, R result[RV]](_ context.Context, c Recorder, name, subresource string, opts metav1.GetOptions) (R, error) {
	fake, at := c.recorder()
	return invoke(fake, testing.NewGetSubresourceActionWithOptions(at.resource, at.namespace, subresource, name, opts), R(new(RV)))
}

// ListAs records a list. A list action has no name, so that of a sub-resource's
// object is lost; its answer is returned as it is, without a look at labels. Of
// a cluster-scoped resource the action has of opts only the selectors, as
// upstream's has.
func ListAs[RV any, R result[RV]](_ context.Context, c Recorder, _, subresource string, opts metav1.ListOptions) (R, error) {
	fake, at := c.recorder()
	action := testing.NewListActionWithOptions(at.resource, at.kind, at.namespace, opts)
	if at.clusterScoped {
		action = testing.NewRootListActionWithOptions(at.resource, at.kind, opts)
	}
	action.Subresource = subresource
	return invoke(fake, action, R(new(RV)))
}

// CreateAs records a create. The name is that of the object whose sub-resource
// is posted to.
func CreateAs[RV any, R result[RV]](_ context.Context, c Recorder, name, subresource string, in runtime.Object, opts metav1.CreateOptions) (R, error) {
	fake, at := c.recorder()
	return invoke(fake, testing.NewCreateSubresourceActionWithOptions(at.resource, name, subresource, at.namespace, in, opts), R(new(RV)))
}

// UpdateAs records an update. An update action has no name, so that of a
// sub-resource's object is lost unless it is in's own.
func UpdateAs[RV any, R result[RV]](_ context.Context, c Recorder, _, subresource string, in runtime.Object, opts metav1.UpdateOptions) (R, error) {
	fake, at := c.recorder()
	return invoke(fake, testing.NewUpdateSubresourceActionWithOptions(at.resource, subresource, at.namespace, in, opts), R(new(RV)))
}

// PatchAs records a patch.
func PatchAs[RV any, R result[RV]](_ context.Context, c Recorder, name string, pt types.PatchType, data []byte, opts metav1.PatchOptions, subresources ...string) (R, error) {
	fake, at := c.recorder()
	return invoke(fake, testing.NewPatchSubresourceActionWithOptions(at.resource, at.namespace, name, pt, data, opts, subresources...), R(new(RV)))
}

// ApplyAs records a patch with the configuration as JSON. Without a
// sub-resource the name is the configuration's own and the argument not used.
//
// Upstream's fakes record the private name of the input type ("scale" for a
// Scale) as the sub-resource; generated code passes that one, to record the
// same.
func ApplyAs[RV any, C comparable, R result[RV]](ctx context.Context, c Recorder, name, subresource string, configuration C, opts metav1.ApplyOptions) (R, error) {
	if configuration == *new(C) {
		return nil, errNoConfiguration
	}
	data, err := json.Marshal(configuration)
	if err != nil {
		return nil, err
	}
	if subresource == "" {
		named, ok := any(configuration).(interface{ GetName() *string })
		if !ok || named.GetName() == nil {
			return nil, errNoName
		}
		name = *named.GetName()
	}
	return PatchAs[RV, R](ctx, c, name, types.ApplyPatchType, data, opts.ToPatchOptions(), subresource)
}
