// Package apply is what generated apply configurations call to fill in their
// fields. Its functions are for one goroutine at a time, as the configurations
// are. All but [Ensure] return their first argument, the configuration, so that
// generated methods are one expression.
//
// A package of generated code has each of them compiled for every combination of
// type arguments. So that this stays cheap, type arguments are pointers where
// possible, which share one instance, and what is more than an assignment is not
// inlined: it would be compiled once more in each method.
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

// Ensure returns what a field points to, a zero value if it pointed to nothing.
//
//go:noinline
func Ensure[V any](field **V) *V {
	if *field == nil {
		*field = new(V)
	}
	return *field
}

// Append appends values to a list.
//
//go:noinline
func Append[B, T any](b B, list *[]T, values []T) B {
	*list = append(*list, values...)
	return b
}

// AppendCopies appends copies of what values point to. It panics, naming the
// method that was called, when one of them is nil; those before it are appended
// then.
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

// AppendPointers is [AppendCopies] to a list that keeps the pointers themselves.
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

// Merge puts entries into a map, which it makes if there is none and one is
// needed; values of keys that are there already are replaced.
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

// Kinds are the apply configurations of the kinds of a group version: nil
// pointers, one of each type.
type Kinds struct {
	Version schema.GroupVersion
	Configs []any
}

// ForKind returns a new apply configuration of a kind, nil if versions have none.
// It is of the type whose name is that of the kind, beginning with a capital
// letter, with ApplyConfiguration at the end.
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
