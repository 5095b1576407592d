package schema_test

import (
	"fmt"
	"strings"

	"github.com/kubewright/kubewright/generators/internal/schema"
)

// An OpenAPI document becomes the schema that server-side apply needs. The two lists differ in how
// they are merged.
func Example() {
	document, err := schema.ParseOpenAPI([]byte(`{"definitions": {"com.example.Oven": {
		"type": "object",
		"properties": {
			"fuel": {"type": "string"},
			"trays": {"type": "array", "items": {"type": "string"}},
			"users": {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"}
		}}}}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	types, err := document.Schema([]string{"com.example.Oven"})
	if err != nil {
		fmt.Println(err)
		return
	}
	for line := range strings.Lines(types.YAML()) {
		if strings.Contains(line, "{name: ") { // a field
			fmt.Println(strings.TrimSpace(line))
		}
	}
	// Output:
	// - {name: fuel, type: {scalar: string}}
	// - {name: trays, type: {list: {elementType: {scalar: string}, elementRelationship: atomic}}}
	// - {name: users, type: {list: {elementType: {scalar: string}, elementRelationship: associative}}}
}
