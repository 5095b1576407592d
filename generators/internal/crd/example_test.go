package crd_test

import (
	"fmt"

	"github.com/kubewright/kubewright/generators/internal/crd"
)

// A definition becomes the types of its kind, the content of a file.
func Example() {
	defs, problems := crd.Read([]crd.Source{{Name: "oven.yaml", Text: []byte(`
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: ovens.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Oven, plural: ovens}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              fuel: {type: string, description: What it burns.}
              trays: {type: integer}
`)}})
	types, more := crd.Options{WellKnown: true}.Types(defs)
	for _, problem := range append(problems, more...) {
		fmt.Println(problem)
	}
	for _, kind := range types {
		for _, decl := range kind.Decls {
			fmt.Println("type", decl.Name)
			for _, field := range decl.Fields {
				fmt.Println("   ", field.Name, field.Type, field.Tag)
			}
		}
	}
	// Output:
	// type OvenSpec
	//     Fuel *string `json:"fuel,omitempty"`
	//     Trays *int64 `json:"trays,omitempty"`
}
