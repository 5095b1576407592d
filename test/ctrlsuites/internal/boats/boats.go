// Package boats has the custom resource of the tests of managers.
package boats

import (
	"testing/fstest"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Definitions has the definition of boats.
var Definitions = fstest.MapFS{"boats.yaml": {Data: []byte(`
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: boats.harbour.example}
spec:
  group: harbour.example
  scope: Namespaced
  names: {plural: boats, singular: boat, kind: Boat, listKind: BoatList}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, properties: {
      spec: {type: object, properties: {length: {type: integer}}}}}}
`)}}

// Resource is the server's name for boats.
var Resource = schema.GroupVersionResource{Group: "harbour.example", Version: "v1", Resource: "boats"}

// New returns a boat without a name.
func New() *unstructured.Unstructured {
	boat := &unstructured.Unstructured{}
	boat.SetGroupVersionKind(Resource.GroupVersion().WithKind("Boat"))
	return boat
}
