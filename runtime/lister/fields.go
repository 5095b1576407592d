package lister

import (
	"fmt"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
)

// ListByFields returns the objects that match matchLabels and whose fields have the values that selector
// requires, in no particular order. Of a read-only lister it returns views.
//
//	inTown := fields.OneTermEqualSelector("spec.town", town)
//	bakeries, err := lister.ListByFields(bakeryLister, inTown, labels.Everything())
//
// Fields must have been declared with informer.IndexField, and selector can only require equality. The error
// for a field that wasn't declared is a *[NoIndexError], whose text lists the declared fields. The cost
// depends on the number of objects with the rarest of the values.
func ListByFields[T any](l interface {
	List(labels.Selector) ([]T, error)
}, selector fields.Selector, matchLabels labels.Selector) ([]T, error) {
	ours, ok := l.(interface {
		FindByFields(fields.Selector, labels.Selector) ([]any, error)
	})
	if !ok {
		return nil, fmt.Errorf("list by fields: %T is not a lister of this runtime", l)
	}
	found, err := ours.FindByFields(selector, matchLabels)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	typed := make([]T, len(found))
	for n, obj := range found {
		if typed[n], ok = obj.(T); !ok {
			return nil, fmt.Errorf("list by fields: %T has a %T, not a %T", l, obj, typed[n])
		}
	}
	return typed, nil
}
