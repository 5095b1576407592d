package fake

import (
	"encoding/json"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/testing"

	"github.com/kubewright/kubewright/runtime/gen/client"
	"github.com/kubewright/kubewright/runtime/gen/internal/pointee"
)

// target is the resource that a client's actions name, and the Fake that records them. It
// has no type parameter, so that the code that all fakes share is compiled once.
type target struct {
	fake          *testing.Fake
	namespace     string
	resource      schema.GroupVersionResource
	kind          schema.GroupVersionKind
	clusterScoped bool
}

func newTarget(
	fake *testing.Fake, namespace string, resource schema.GroupVersionResource, kind schema.GroupVersionKind,
	opts []Option,
) *target {
	t := &target{fake: fake, namespace: namespace, resource: resource, kind: kind}
	for _, opt := range opts {
		opt(t)
	}
	return t
}

// invoke records an action and returns the reactors' answer, or unanswered if the answer is nil.
func (t *target) invoke(action testing.Action, unanswered runtime.Object) (runtime.Object, error) {
	answer, err := t.fake.Invokes(action, unanswered)
	if answer == nil {
		answer = unanswered
	}
	return answer, err
}

func (t *target) get(name string, opts metav1.GetOptions, unanswered runtime.Object) (runtime.Object, error) {
	return t.invoke(testing.NewGetActionWithOptions(t.resource, t.namespace, name, opts), unanswered)
}

func (t *target) create(
	obj runtime.Object, opts metav1.CreateOptions, unanswered runtime.Object,
) (runtime.Object, error) {
	return t.invoke(testing.NewCreateActionWithOptions(t.resource, t.namespace, obj, opts), unanswered)
}

// update records an update of obj, or of its subresource if subresource is not "".
func (t *target) update(
	subresource string, obj runtime.Object, opts metav1.UpdateOptions, unanswered runtime.Object,
) (runtime.Object, error) {
	if subresource == "" {
		return t.invoke(testing.NewUpdateActionWithOptions(t.resource, t.namespace, obj, opts), unanswered)
	}
	return t.invoke(
		testing.NewUpdateSubresourceActionWithOptions(t.resource, subresource, t.namespace, obj, opts),
		unanswered)
}

func (t *target) patch(
	name string, pt types.PatchType, data []byte, opts metav1.PatchOptions, subresources []string,
	unanswered runtime.Object,
) (runtime.Object, error) {
	return t.invoke(
		testing.NewPatchSubresourceActionWithOptions(t.resource, t.namespace, name, pt, data, opts,
			subresources...), unanswered)
}

// apply records a patch. If it refuses the configuration, it records nothing and returns a
// nil object.
func (t *target) apply(
	configuration client.Configuration, opts metav1.ApplyOptions, unanswered runtime.Object,
	subresources ...string,
) (runtime.Object, error) {
	if pointee.IsNil(configuration) {
		return nil, errNoConfiguration
	}
	data, err := json.Marshal(configuration)
	if err != nil {
		return nil, err
	}
	name := configuration.GetName()
	if name == nil {
		return nil, errNoName
	}
	return t.patch(*name, types.ApplyPatchType, data, opts.ToPatchOptions(), subresources, unanswered)
}

// list records a list. It returns the answer, which may be nil, and the label selector of
// opts.
func (t *target) list(
	opts metav1.ListOptions, unanswered runtime.Object,
) (runtime.Object, labels.Selector, error) {
	action := testing.NewListActionWithOptions(t.resource, t.kind, t.namespace, opts)
	answer, err := t.fake.Invokes(action, unanswered)
	return answer, action.ListRestrictions.Labels, err
}
