package lister

import "fmt"

// NoIndexError is the error of [ListByFields] for a field that wasn't declared with informer.IndexField, and
// of indexers for an index that doesn't exist.
type NoIndexError struct {
	// Name is the name of the index.
	Name string
}

func (e *NoIndexError) Error() string { return "Index with name " + e.Name + " does not exist" }

// notOurs is the error for a lister that isn't one of this module, or has no informer of this module behind
// it.
func notOurs(what string, l any) error {
	return fmt.Errorf("%s: there is no informer of kubewright behind %T", what, l)
}
