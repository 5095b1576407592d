package fake

import (
	"context"
	"encoding/json"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/testing"

	"github.com/kubewright/kubewright/runtime/gen/internal/pointee"
)

// Recorder is a type that embeds one of this package's clients: the receiver of a
// generated method.
type Recorder interface {
	recorder() *target
}

// GetAs records a get of the object with that name, or of its subresource.
func GetAs[R runtime.Object](
	_ context.Context, c Recorder, name, subresource string, opts metav1.GetOptions,
) (R, error) {
	at := c.recorder()
	return as[R](at.invoke(
		testing.NewGetSubresourceActionWithOptions(at.resource, at.namespace, subresource, name, opts),
		pointee.New[R]()))
}

// ListAs records a list. It ignores the name, since a list action has none, and returns
// the answer without selecting by labels. As upstream, for a cluster-scoped resource the
// action has only the selectors of opts.
func ListAs[R runtime.Object](
	_ context.Context, c Recorder, _, subresource string, opts metav1.ListOptions,
) (R, error) {
	at := c.recorder()
	action := testing.NewListActionWithOptions(at.resource, at.kind, at.namespace, opts)
	if at.clusterScoped {
		action = testing.NewRootListActionWithOptions(at.resource, at.kind, opts)
	}
	action.Subresource = subresource
	return as[R](at.invoke(action, pointee.New[R]()))
}

// CreateAs records a create. With a subresource, name is the object that it belongs to.
func CreateAs[R runtime.Object](
	_ context.Context, c Recorder, name, subresource string, in runtime.Object, opts metav1.CreateOptions,
) (R, error) {
	at := c.recorder()
	return as[R](at.invoke(
		testing.NewCreateSubresourceActionWithOptions(at.resource, name, subresource, at.namespace, in, opts),
		pointee.New[R]()))
}

// UpdateAs records an update. It ignores the name, since an update action has only its object's name.
func UpdateAs[R runtime.Object](
	_ context.Context, c Recorder, _, subresource string, in runtime.Object, opts metav1.UpdateOptions,
) (R, error) {
	at := c.recorder()
	return as[R](at.invoke(
		testing.NewUpdateSubresourceActionWithOptions(at.resource, subresource, at.namespace, in, opts),
		pointee.New[R]()))
}

// PatchAs records a patch.
func PatchAs[R runtime.Object](
	_ context.Context, c Recorder, name string, pt types.PatchType, data []byte, opts metav1.PatchOptions,
	subresources ...string,
) (R, error) {
	at := c.recorder()
	return as[R](at.invoke(
		testing.NewPatchSubresourceActionWithOptions(at.resource, at.namespace, name, pt, data, opts,
			subresources...), pointee.New[R]()))
}

// ApplyAs records a patch with the configuration as JSON. Without a subresource it uses
// the configuration's name and ignores name.
//
// Upstream's fakes record the private name of the input type ("scale" for a Scale) as the
// subresource. Generated code passes that name, so that the action is the same.
func ApplyAs[R runtime.Object, C any](
	ctx context.Context, c Recorder, name, subresource string, configuration C, opts metav1.ApplyOptions,
) (R, error) {
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
