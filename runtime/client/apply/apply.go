// Package apply is what generated apply configurations call to fill in their
// lists and maps. Its functions are for one goroutine at a time, as the
// configurations are.
package apply

// Append appends copies of what values point to. It panics, naming the method
// that was called, when one of them is nil; those before it are appended then.
func Append[T any](list *[]T, method string, values []*T) {
	for _, value := range values {
		if value == nil {
			panic("nil value passed to " + method)
		}
		*list = append(*list, *value)
	}
}

// AppendPointers is [Append] to a list that keeps the pointers themselves.
func AppendPointers[T any](list *[]*T, method string, values []*T) {
	for _, value := range values {
		if value == nil {
			panic("nil value passed to " + method)
		}
		*list = append(*list, value)
	}
}

// Merge puts entries into a map, which it makes if there is none and one is
// needed; values of keys that are there already are replaced.
func Merge[K comparable, V any](into *map[K]V, entries map[K]V) {
	if *into == nil && len(entries) > 0 {
		*into = make(map[K]V, len(entries))
	}
	for k, v := range entries {
		(*into)[k] = v
	}
}
