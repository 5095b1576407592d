package applyschema_test

import (
	"reflect"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/kubewright/kubewright/runtime/gen/applyschema"
)

// text is a part of the schema of ConfigMaps and of Quantities.
const text = `types:
- name: io.k8s.api.core.v1.ConfigMap
  map:
    fields:
    - {name: apiVersion, type: {scalar: string}}
    - {name: kind, type: {scalar: string}}
    - {name: metadata, type: {namedType: __untyped__}, default: {}}
    - {name: data, type: {map: {elementType: {scalar: string}}}}
- name: __untyped__
  scalar: untyped
  list: {elementType: {namedType: __untyped__}, elementRelationship: atomic}
  map: {elementType: {namedType: __untyped__}, elementRelationship: separable}
`

const name = "io.k8s.api.core.v1.ConfigMap"

// configuration is an apply configuration.
type configuration struct {
	Data map[string]string `json:"data,omitempty"`
}

func owned() *corev1.ConfigMap {
	return &corev1.ConfigMap{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: metav1.ObjectMeta{Name: "a", ManagedFields: []metav1.ManagedFieldsEntry{
			{Manager: "me", Operation: metav1.ManagedFieldsOperationApply, APIVersion: "v1",
				FieldsType: "FieldsV1", FieldsV1: &metav1.FieldsV1{Raw: []byte(`{"f:data":{"f:mine":{}}}`)}},
			{Manager: "me", Operation: metav1.ManagedFieldsOperationApply, APIVersion: "v1", Subresource: "status",
				FieldsType: "FieldsV1", FieldsV1: &metav1.FieldsV1{Raw: []byte(`{"f:data":{"f:theirs":{}}}`)}},
		}},
		Data: map[string]string{"mine": "1", "theirs": "2"},
	}
}

// TestExtract checks that both ways of extraction return the fields that a manager owns in a subresource.
func TestExtract(t *testing.T) {
	s := applyschema.New(text)
	for how, extract := range map[string]func(*corev1.ConfigMap, string, *configuration) error{
		"plain": func(c *corev1.ConfigMap, subresource string, into *configuration) error {
			return s.Extract(c, name, "me", into, subresource)
		},
		"by JSON": func(c *corev1.ConfigMap, subresource string, into *configuration) error {
			return s.ExtractByJSON(c, name, "me", into, subresource)
		},
	} {
		for subresource, want := range map[string]map[string]string{
			"": {"mine": "1"}, "status": {"theirs": "2"}, "scale": nil,
		} {
			var got configuration
			err := extract(owned(), subresource, &got)
			if err != nil || !reflect.DeepEqual(got.Data, want) {
				t.Errorf("%s, subresource %q: %v, %v; want %v", how, subresource, got.Data, err, want)
			}
		}
		if err := s.Extract(owned(), "io.k8s.Unknown", "me", &configuration{}, ""); err == nil {
			t.Errorf("%s: a type that the schema doesn't have is extracted", how)
		}
	}
}

// TestTypeConverter converts an object to the library's type and back.
func TestTypeConverter(t *testing.T) {
	converter := applyschema.New(text).TypeConverter(scheme.Scheme)
	value, err := converter.ObjectToTyped(owned())
	if err != nil {
		t.Fatal(err)
	}
	obj, err := converter.TypedToObject(value)
	if err != nil {
		t.Fatal(err)
	}
	data, _, err := unstructured.NestedStringMap(obj.(*unstructured.Unstructured).Object, "data")
	if err != nil || !reflect.DeepEqual(data, owned().Data) {
		t.Errorf("%v, %v", data, err)
	}
	pod := &corev1.Pod{Spec: corev1.PodSpec{Overhead: corev1.ResourceList{"cpu": resource.MustParse("1")}}}
	pod.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Pod"))
	if _, err := converter.ObjectToTyped(pod); err == nil {
		t.Error("a type that the schema doesn't have is converted")
	}
}

// TestNewPanics checks that a text that isn't YAML is refused at once.
func TestNewPanics(t *testing.T) {
	defer func() {
		if v := recover(); !strings.HasPrefix(v.(string), "parse the schema of apply configurations: yaml:") {
			t.Errorf("panicked with %v", v)
		}
	}()
	applyschema.New("types: [")
	t.Error("parsed")
}
