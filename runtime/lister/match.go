package lister

import (
	"reflect"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
)

// matcher is a selector as a list's loop wants it.
type matcher struct {
	selector labels.Selector
	// equal is the selector as labels that must be there, if exact is true.
	equal []label
	exact bool
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
