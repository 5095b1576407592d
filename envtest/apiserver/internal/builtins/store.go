package builtins

import (
	"fmt"
	"maps"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/storage/names"
)

// store keeps the objects of one kind.
type store struct {
	*registry.Store
	shortNames []string
}

// ShortNames appear in the discovery documents, for kubectl.
func (s *store) ShortNames() []string { return s.shortNames }

func newStore[T object](
	scheme *runtime.Scheme, r rules[T], storage generic.RESTOptionsGetter,
) (*store, error) {
	kinds, _, err := scheme.ObjectKinds(r.empty)
	if err != nil {
		return nil, err
	}
	resource := schema.GroupResource{Group: kinds[0].Group, Resource: r.plural}
	rule := strategy[T]{ObjectTyper: scheme, NameGenerator: names.SimpleNameGenerator, rules: r}
	s := &registry.Store{
		NewFunc:                   r.empty.DeepCopyObject,
		NewListFunc:               r.emptyList.DeepCopyObject,
		DefaultQualifiedResource:  resource,
		SingularQualifiedResource: schema.GroupResource{Group: resource.Group, Resource: r.singular},
		CreateStrategy:            rule,
		UpdateStrategy:            rule,
		DeleteStrategy:            rule,
		TableConvertor:            rest.NewDefaultTableConvertor(resource),
	}
	if r.seconds > 0 {
		s.TTLFunc = func(runtime.Object, uint64, bool) (uint64, error) { return r.seconds, nil }
	}
	err = s.CompleteWithOptions(&generic.StoreOptions{RESTOptions: storage, AttrFunc: r.attributes})
	return &store{Store: s, shortNames: r.shortNames}, err
}

// attributes returns what selectors see of an object.
func (r rules[T]) attributes(obj runtime.Object) (labels.Set, fields.Set, error) {
	o, ok := obj.(T)
	if !ok {
		return nil, nil, fmt.Errorf("found a %T, want a %T", obj, r.empty)
	}
	set := fields.Set{"metadata.name": o.GetName()}
	if !r.clusterScoped {
		set["metadata.namespace"] = o.GetNamespace()
	}
	if r.fields != nil {
		maps.Copy(set, r.fields(o))
	}
	return o.GetLabels(), set, nil
}
