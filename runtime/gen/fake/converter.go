package fake

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
)

// jsonConverter converts objects by way of JSON, as servers see them. Conversion by reflection doesn't know
// how types with a MarshalText, and scalars with a MarshalJSON, are encoded.
type jsonConverter struct {
	managedfields.TypeConverter
	scheme *runtime.Scheme
}

// ObjectToTyped returns the value of an object.
func (c jsonConverter) ObjectToTyped(
	obj runtime.Object, opts ...typed.ValidationOptions,
) (*typed.TypedValue, error) {
	if _, ok := obj.(*unstructured.Unstructured); ok {
		return c.TypeConverter.ObjectToTyped(obj, opts...)
	}
	text, err := json.Marshal(obj)
	if err != nil {
		return nil, err
	}
	u := &unstructured.Unstructured{}
	if err := json.Unmarshal(text, &u.Object); err != nil {
		return nil, err
	}
	u.SetGroupVersionKind(obj.GetObjectKind().GroupVersionKind())
	return c.TypeConverter.ObjectToTyped(u, opts...)
}

// TypedToObject returns the object that has a value, of its type if the scheme knows that.
func (c jsonConverter) TypedToObject(value *typed.TypedValue) (runtime.Object, error) {
	u, err := c.TypeConverter.TypedToObject(value)
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
