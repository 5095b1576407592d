package fake

import (
	"context"
	"encoding/json"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/testing"

	"github.com/kubewright/kubewright/runtime/client/internal/pointee"
)

// Recorder is any type that embeds one of this package's clients: the receiver
// of a generated method.
type Recorder interface {
	recorder() *target
}

// GetAs records a get of the object of that name, or of its sub-resource.
func GetAs[R runtime.Object](_ context.Context, c Recorder, name, subresource string, opts metav1.GetOptions) (R, error) {
	at := c.recorder()
	return as[R](at.invoke(testing.NewGetSubresourceActionWithOptions(at.resource, at.namespace, subresource, name, opts), pointee.New[R]()))
}

// ListAs records a list. A list action has no name, so that of a sub-resource's
// object is lost; its answer is returned as it is, without a look at labels. Of
// a cluster-scoped resource the action has of opts only the selectors, as
// upstream's has.
func ListAs[R runtime.Object](_ context.Context, c Recorder, _, subresource string, opts metav1.ListOptions) (R, error) {
	at := c.recorder()
	action := testing.NewListActionWithOptions(at.resource, at.kind, at.namespace, opts)
	if at.clusterScoped {
		action = testing.NewRootListActionWithOptions(at.resource, at.kind, opts)
	}
	action.Subresource = subresource
	return as[R](at.invoke(action, pointee.New[R]()))
}

// CreateAs records a create. The name is that of the object whose sub-resource
// is posted to.
func CreateAs[R runtime.Object](_ context.Context, c Recorder, name, subresource string, in runtime.Object, opts metav1.CreateOptions) (R, error) {
	at := c.recorder()
	return as[R](at.invoke(testing.NewCreateSubresourceActionWithOptions(at.resource, name, subresource, at.namespace, in, opts), pointee.New[R]()))
}

// UpdateAs records an update. An update action has no name, so that of a
// sub-resource's object is lost unless it is in's own.
func UpdateAs[R runtime.Object](_ context.Context, c Recorder, _, subresource string, in runtime.Object, opts metav1.UpdateOptions) (R, error) {
	at := c.recorder()
	return as[R](at.invoke(testing.NewUpdateSubresourceActionWithOptions(at.resource, subresource, at.namespace, in, opts), pointee.New[R]()))
}

// PatchAs records a patch.
func PatchAs[R runtime.Object](_ context.Context, c Recorder, name string, pt types.PatchType, data []byte, opts metav1.PatchOptions, subresources ...string) (R, error) {
	at := c.recorder()
	return as[R](at.invoke(testing.NewPatchSubresourceActionWithOptions(at.resource, at.namespace, name, pt, data, opts, subresources...), pointee.New[R]()))
}

// ApplyAs records a patch with the configuration as JSON. Without a
// sub-resource the name is the configuration's own and the argument not used.
//
// Upstream's fakes record the private name of the input type ("scale" for a
// Scale) as the sub-resource; generated code passes that one, to record the
// same.
func ApplyAs[R runtime.Object, C any](ctx context.Context, c Recorder, name, subresource string, configuration C, opts metav1.ApplyOptions) (R, error) {
	if any(configuration) == any(*new(C)) {
		return *new(R), errNoConfiguration
	}
	data, err := json.Marshal(configuration)
	if err != nil {
		return *new(R), err
	}
	if subresource == "" {
		named, ok := any(configuration).(interface{ GetName() *string })
		if !ok || named.GetName() == nil {
			return *new(R), errNoName
		}
		name = *named.GetName()
	}
	return PatchAs[R](ctx, c, name, types.ApplyPatchType, data, opts.ToPatchOptions(), subresource)
}
