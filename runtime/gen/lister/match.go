package lister

import (
	"iter"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/runtime/internal/store"
)

// byRarestLabel returns the objects of the namespace that have one of the wanted values
// of an indexed label. Of several indexed labels it takes the one with the fewest
// objects. ok is false if no label is indexed, or if the namespace's index finds no
// more objects.
func (s *source) byRarestLabel(namespace string, wanted []store.LabelValues) (found []any, ok bool) {
	if s.store == nil {
		return nil, false
	}
	best, name, values := -1, "", []string(nil)
	for _, w := range wanted {
		index := store.LabelIndex(w.Label)
		if n, ok := s.store.Count(index, w.Values...); ok && (best < 0 || n < best) {
			best, name, values = n, index, w.Values
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

// isIn reports whether an object is in a namespace. An object without metadata isn't.
func isIn(obj any, namespace string) bool {
	m, err := meta.Accessor(obj)
	return err == nil && m.GetNamespace() == namespace
}

var selectorType = reflect.TypeOf(labels.NewSelector())

// matcher is a selector that is prepared for many objects.
type matcher struct {
	selector labels.Selector
	// wanted are labels that objects must have. If exact is true, the selector has no
	// other requirements.
	wanted []store.LabelValues
	exact  bool
}

// newMatcher reads the requirements of apimachinery's own selectors: looking up their
// labels takes half the time of Matches. Other selectors may match in any way, so
// wanted stays empty.
func newMatcher(selector labels.Selector) *matcher {
	m := &matcher{selector: selector}
	if reflect.TypeOf(selector) != selectorType {
		return m
	}
	requirements, _ := selector.Requirements()
	for _, r := range requirements {
		switch r.Operator() {
		case selection.Equals, selection.DoubleEquals, selection.In:
			m.wanted = append(m.wanted, store.LabelValues{Label: r.Key(), Values: r.ValuesUnsorted()})
		}
	}
	m.exact = len(m.wanted) == len(requirements)
	return m
}

func (m *matcher) matches(set map[string]string) bool {
	if !m.exact {
		return m.selector.Matches(labels.Set(set))
	}
	for i := range m.wanted {
		if value, ok := set[m.wanted[i].Label]; !ok || !slices.Contains(m.wanted[i].Values, value) {
			return false
		}
	}
	return true
}

// ahead is the number of objects whose labels are loaded before the first of them are
// compared, so that the processor waits for their memory at the same time and not in turn.
const ahead = 32

// yieldMatching calls yield for the objects that match.
func (m *matcher) yieldMatching(chunks iter.Seq[[]any], yield func(any)) error {
	var accessors [ahead]metav1.Object
	var sets [ahead]map[string]string
	for chunk := range chunks {
		for len(chunk) > 0 {
			batch := chunk[:min(ahead, len(chunk))]
			chunk = chunk[len(batch):]
			for i, obj := range batch {
				var ok bool
				if accessors[i], ok = obj.(metav1.Object); !ok {
					var err error
					if accessors[i], err = meta.Accessor(obj); err != nil {
						return err
					}
				}
			}
			labeled := 0
			for i := range batch {
				sets[i] = accessors[i].GetLabels()
			}
			for _, set := range sets[:len(batch)] {
				labeled += len(set)
			}
			if labeled == 0 && len(m.wanted) > 0 {
				continue
			}
			for i, obj := range batch {
				if m.matches(sets[i]) {
					yield(obj)
				}
			}
		}
	}
	return nil
}
