package informers

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// BuiltIn is a line of the table, for tests.
type BuiltIn struct {
	Resource   schema.GroupVersionResource
	Object     runtime.Object // a nil pointer
	Namespaced bool
}

// BuiltIns returns the table.
func BuiltIns() (all []BuiltIn) {
	for _, types := range builtIns {
		for i := range types {
			b := &types[i]
			all = append(all, BuiltIn{b.gvr(), b.object, b.namespaced != nil})
		}
	}
	return all
}
