package record

import (
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"
)

// APIObject is an object that can be compared as a whole.
type APIObject interface {
	Object
	runtime.Object
}

// Differences compares two lists of the same objects, in any order, in everything but kind and API version,
// which servers may leave out.
func Differences[T APIObject](got, want []T) []string {
	var differences []string
	named := map[cache.ObjectName]T{}
	for _, obj := range got {
		named[cache.MetaObjectToName(obj)] = obj
	}
	if len(got) != len(want) || len(named) != len(want) {
		differences = append(differences,
			fmt.Sprintf("%d objects of %d names, want %d", len(got), len(named), len(want)))
	}
	for _, obj := range want {
		name := cache.MetaObjectToName(obj)
		other, ok := named[name]
		if !ok {
			differences = append(differences, fmt.Sprintf("%s is missing", name))
			continue
		}
		if a, b := bare(other), bare(obj); !equality.Semantic.DeepEqual(a, b) {
			differences = append(differences, fmt.Sprintf("%s is\n%s\nwant\n%s", name, Text(a), Text(b)))
		}
	}
	return differences
}

// bare returns a copy without kind and API version.
func bare(obj runtime.Object) runtime.Object {
	c := obj.DeepCopyObject()
	c.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
	return c
}

// Text formats an object for messages.
func Text(obj runtime.Object) string {
	data, err := json.Marshal(obj)
	if err != nil {
		return err.Error()
	}
	return string(data)
}
