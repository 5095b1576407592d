package lister

import (
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/runtime/store"
)

// matcher is a selector as a list's loop wants it.
type matcher struct {
	selector labels.Selector
	// equal is the selector as labels that must be there, if exact is true.
	equal []label
	exact bool
}

// narrowed returns the objects of the namespace that have the values which a
// selector asks of an indexed label, of all such labels the rarest. ok is false
// if there is none, or if an index of the namespace is as good.
func (s *source) narrowed(namespace string, selector labels.Selector) (found []any, ok bool) {
	if s.store == nil || reflect.TypeOf(selector) != selectorType {
		return nil, false
	}
	best, name, values := -1, "", []string(nil)
	requirements, _ := selector.Requirements()
	for _, one := range requirements {
		switch one.Operator() {
		case selection.Equals, selection.DoubleEquals, selection.In:
		default:
			continue
		}
		index, wanted := store.LabelIndex(one.Key()), one.ValuesUnsorted()
		if n, ok := s.store.Count(index, wanted...); ok && (best < 0 || n < best) {
			best, name, values = n, index, wanted
		}
	}
	if best < 0 {
		return nil, false
	}
	if namespace == "" {
		found, err := s.store.ByIndex(name, values...)
		return found, err == nil
	}
	if n, ok := s.store.Count(cache.NamespaceIndex, namespace); ok && n <= best {
		return nil, false
	}
	found, err := s.store.ByIndex(name, values...)
	return slices.DeleteFunc(found, func(obj any) bool { return !isIn(obj, namespace) }), err == nil
}

// isIn says whether an object is in a namespace. One without metadata isn't.
func isIn(obj any, namespace string) bool {
	m, err := meta.Accessor(obj)
	return err == nil && m.GetNamespace() == namespace
}

type label struct{ key, value string }

var selectorType = reflect.TypeOf(labels.NewSelector())

// newMatcher recognises apimachinery's own selectors that ask for equality
// only: looking those labels up takes half the time of Matches. Others may
// match as they like.
func newMatcher(selector labels.Selector) matcher {
	m := matcher{selector: selector}
	if reflect.TypeOf(selector) != selectorType {
		return m
	}
	requirements, _ := selector.Requirements()
	for _, r := range requirements {
		value, ok := r.Values().PopAny()
		switch r.Operator() {
		case selection.Equals, selection.DoubleEquals:
		default:
			ok = false
		}
		if !ok {
			return m
		}
		m.equal = append(m.equal, label{r.Key(), value})
	}
	m.exact = true
	return m
}

func (m *matcher) matches(set map[string]string) bool {
	if !m.exact {
		return m.selector.Matches(labels.Set(set))
	}
	for i := range m.equal {
		if value, ok := set[m.equal[i].key]; !ok || value != m.equal[i].value {
			return false
		}
	}
	return true
}
