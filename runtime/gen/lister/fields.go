package lister

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"

	"github.com/kubewright/kubewright/runtime/internal/store"
	"github.com/kubewright/kubewright/runtime/lister"
)

// FindByFields is lister.ListByFields without the type.
func (r reader) FindByFields(selector fields.Selector, matchLabels labels.Selector) (list []any, err error) {
	self, ok := r.of.(*source)
	if !ok || self.store == nil {
		return nil, errors.New("list by fields: the cache behind the lister has no indexes of fields")
	}
	namespace := r.namespace
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
	rarest, fewest := 0, -1
	for n, term := range terms {
		count, ok := self.store.Count(store.FieldIndex(term.Field), term.Value)
		if !ok {
			return nil, self.undeclared(term.Field)
		}
		if term.Operator == selection.NotEquals {
			return nil, fmt.Errorf("list by field %q: the selector can only require equality",
				term.Field)
		}
		if fewest < 0 || count < fewest {
			rarest, fewest = n, count
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
		noIndex: &lister.NoIndexError{Name: store.FieldIndex(field)},
	}
}

// undeclaredError is a [lister.NoIndexError] that names the field.
type undeclaredError struct {
	text    string
	noIndex *lister.NoIndexError
}

func (e *undeclaredError) Error() string { return e.text }
func (e *undeclaredError) Unwrap() error { return e.noIndex }
