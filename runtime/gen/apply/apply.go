// Package apply has the functions with which generated apply configurations set their fields. Like the
// configurations, they are not safe for concurrent use. All setters but [Ensure] return their first argument,
// the configuration, so that a generated method is one expression.
//
// A package of generated code compiles each function for every combination of type arguments. To keep that
// cheap, type arguments are pointers where possible, which share one instance, and the functions are not
// inlined, since each method would then compile them once more.
package apply

import (
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Set sets a field to value.
//
//go:noinline
func Set[B, P any](b B, field *P, value P) B {
	*field = value
	return b
}

// Ensure returns the pointer in a field. It sets the field to a new zero value if it is nil.
//
//go:noinline
func Ensure[V any](field **V) *V {
	if *field == nil {
		*field = new(V)
	}
	return *field
}

// Append appends values to a slice.
//
//go:noinline
func Append[B, T any](b B, list *[]T, values []T) B {
	*list = append(*list, values...)
	return b
}

// AppendCopies appends copies of the values behind pointers. It panics at a nil pointer,
// after it has appended the values before it; the panic contains method, the name of the
// generated method.
//
//go:noinline
func AppendCopies[B, T any](b B, list *[]T, method string, values []*T) B {
	for _, value := range values {
		if value == nil {
			panic("nil value passed to " + method)
		}
		*list = append(*list, *value)
	}
	return b
}

// AppendPointers is like [AppendCopies], but appends the pointers themselves.
//
//go:noinline
func AppendPointers[B, T any](b B, list *[]*T, method string, values []*T) B {
	for _, value := range values {
		if value == nil {
			panic("nil value passed to " + method)
		}
		*list = append(*list, value)
	}
	return b
}

// Merge puts entries into a map and replaces the values of existing keys. If the map is nil and entries is
// not empty, it makes a map.
//
//go:noinline
func Merge[B any, K comparable, V any](b B, into *map[K]V, entries map[K]V) B {
	if *into == nil && len(entries) > 0 {
		*into = make(map[K]V, len(entries))
	}
	for k, v := range entries {
		(*into)[k] = v
	}
	return b
}

// Extracted returns b, a pointer, or nil with an error.
func Extracted[P any](b P, err error) (P, error) {
	if err != nil {
		return *new(P), err
	}
	return b, nil
}

// Kinds lists the types of a group version's apply configurations, as nil pointers.
type Kinds struct {
	Version schema.GroupVersion
	Configs []any
}

// ForKind returns a new apply configuration of a kind, or nil if versions have none. The name of its type is
// the kind, with a capital first letter, followed by ApplyConfiguration.
func ForKind(kind schema.GroupVersionKind, versions ...Kinds) any {
	if kind.Kind == "" {
		return nil
	}
	name := strings.ToUpper(kind.Kind[:1]) + kind.Kind[1:] + "ApplyConfiguration"
	for _, v := range versions {
		if v.Version != kind.GroupVersion() {
			continue
		}
		for _, config := range v.Configs {
			if t := reflect.TypeOf(config).Elem(); t.Name() == name {
				return reflect.New(t).Interface()
			}
		}
	}
	return nil
}
