package lister

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/selection"

	"github.com/kubewright/kubewright/runtime/internal/store"
)

// NoIndexError is the error for an index that doesn't exist.
type NoIndexError struct{ Name string }

func (e *NoIndexError) Error() string { return "Index with name " + e.Name + " does not exist" }

// ListByFields returns the objects that match matchLabels and whose fields have the values that selector
// requires. l is a generated lister or one of this package:
//
//	onNode := fields.OneTermEqualSelector("spec.nodeName", node)
//	pods, err := lister.ListByFields[*corev1.Pod](podLister, onNode, labels.Everything())
//
// Fields must have been declared with informer.IndexField, and selector can only require equality. The error
// for a field that wasn't declared is a *[NoIndexError], whose text lists the declared fields. The cost
// depends on the number of objects with the rarest of the values. For a [ReadOnly] use [ListViewsByFields].
func ListByFields[T runtime.Object](
	l any, selector fields.Selector, matchLabels labels.Selector,
) ([]T, error) {
	found, err := listByFields(l, false, selector, matchLabels)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return typedObjects[T](l, found)
}

func typedObjects[T any](l any, found []any) ([]T, error) {
	typed := make([]T, len(found))
	for n, obj := range found {
		var ok bool
		if typed[n], ok = obj.(T); !ok {
			return nil, fmt.Errorf("list by fields: %T has a %T, not a %T", l, obj, typed[n])
		}
	}
	return typed, nil
}

// ListViewsByFields is like [ListByFields], for a read-only lister: it returns views.
func ListViewsByFields[T runtime.Object, V any](
	l ReadOnly[T, V], selector fields.Selector, matchLabels labels.Selector,
) ([]V, error) {
	found, err := listByFields(l, true, selector, matchLabels)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	objects, err := typedObjects[T](l, found)
	if err != nil {
		return nil, err
	}
	return viewed(objects, l.view), nil
}

// listByFields refuses a lister that returns views only, unless views is true, in which
// case the caller makes views of the objects.
func listByFields(
	l any, views bool, selector fields.Selector, matchLabels labels.Selector,
) (list []any, err error) {
	ours, ok := l.(interface{ behind() reader })
	if !ok {
		return nil, fmt.Errorf("list by fields: %T is not a lister of this runtime", l)
	}
	namespace := ours.behind().namespace
	self, ok := ours.behind().of.(*source)
	if !ok || self.store == nil {
		return nil, fmt.Errorf("list by fields: the cache behind %T has no indexes of fields", l)
	}
	if self.viewsOnly && !views {
		return nil, fmt.Errorf("list by fields: %T returns views only; use ListViewsByFields", l)
	}
	yield := func(obj any) { list = append(list, obj) }
	switch {
	case selector == nil:
		return nil, errors.New(
			"list by fields: the selector of fields is nil; fields.Everything() selects all")
	case matchLabels == nil:
		return nil, errors.New(
			"list by fields: the selector of labels is nil; labels.Everything() selects all")
	}
	terms := selector.Requirements()
	if len(terms) == 0 {
		err = self.list(namespace, matchLabels, func(int) {}, yield)
		return list, err
	}
	rarest, least := 0, -1
	for n, term := range terms {
		count, ok := self.store.Count(store.FieldIndex(term.Field), term.Value)
		if !ok {
			return nil, self.undeclared(term.Field)
		}
		if term.Operator == selection.NotEquals {
			return nil, fmt.Errorf("list by field %q: the selector can only require equality",
				term.Field)
		}
		if least < 0 || count < least {
			rarest, least = n, count
		}
	}
	found, err := self.store.ByIndex(store.FieldIndex(terms[rarest].Field), terms[rarest].Value)
	if err != nil {
		return nil, fmt.Errorf("list by fields: %w", err)
	}
	found = slices.DeleteFunc(found, func(obj any) bool {
		if namespace != "" && !isIn(obj, namespace) {
			return true
		}
		for n, term := range terms {
			if n != rarest && !self.store.HasValue(store.FieldIndex(term.Field), obj, term.Value) {
				return true
			}
		}
		return false
	})
	if matchLabels.Empty() {
		return found, nil
	}
	err = newMatcher(matchLabels).yieldMatching(oneChunk(found), yield)
	return list, err
}

// undeclared returns the error for a field without an index.
func (s *source) undeclared(field string) error {
	declared := "none is declared"
	if names := s.store.Fields(); len(names) > 0 {
		declared = "declared are " + strings.Join(names, ", ")
	}
	return &undeclaredError{
		text: fmt.Sprintf("list by field %q: it must be declared with informer.IndexField; %s",
			field, declared),
		noIndex: &NoIndexError{Name: store.FieldIndex(field)},
	}
}

// undeclaredError is a [NoIndexError] that names the field.
type undeclaredError struct {
	text    string
	noIndex *NoIndexError
}

func (e *undeclaredError) Error() string { return e.text }
func (e *undeclaredError) Unwrap() error { return e.noIndex }
