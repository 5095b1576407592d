package fake

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/json"
)

// jsonConverter is a managedfields.TypeConverter that converts objects by way of JSON, as servers see them.
// Conversion by reflection doesn't know how types with a MarshalText, and scalars with a MarshalJSON, are
// encoded. Value and Option are the types of structured-merge-diff in the signatures of a TypeConverter: this
// package doesn't name the library, whose major version depends on apimachinery's.
type jsonConverter[Value, Option any] struct {
	toTyped  func(runtime.Object, ...Option) (Value, error)
	toObject func(Value) (runtime.Object, error)
	scheme   *runtime.Scheme
}

// newJSONConverter returns a converter over the methods of another one.
func newJSONConverter[Value, Option any](
	toTyped func(runtime.Object, ...Option) (Value, error), toObject func(Value) (runtime.Object, error),
	scheme *runtime.Scheme,
) jsonConverter[Value, Option] {
	return jsonConverter[Value, Option]{toTyped, toObject, scheme}
}

// ObjectToTyped returns the value of an object.
func (c jsonConverter[Value, Option]) ObjectToTyped(
	obj runtime.Object, opts ...Option,
) (none Value, _ error) {
	if _, ok := obj.(*unstructured.Unstructured); ok {
		return c.toTyped(obj, opts...)
	}
	text, err := json.Marshal(obj)
	if err != nil {
		return none, err
	}
	u := &unstructured.Unstructured{}
	if err := json.Unmarshal(text, &u.Object); err != nil {
		return none, err
	}
	u.SetGroupVersionKind(obj.GetObjectKind().GroupVersionKind())
	return c.toTyped(u, opts...)
}

// TypedToObject returns the object that has a value, of its type if the scheme knows that.
func (c jsonConverter[Value, Option]) TypedToObject(value Value) (runtime.Object, error) {
	u, err := c.toObject(value)
	if err != nil {
		return nil, err
	}
	obj, err := c.scheme.New(u.GetObjectKind().GroupVersionKind())
	if runtime.IsNotRegisteredError(err) {
		return u, nil
	}
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(u)
	if err != nil {
		return nil, err
	}
	return obj, json.Unmarshal(text, obj)
}
