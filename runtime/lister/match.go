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

// narrowed returns the objects of the namespace that have what is wanted of an
// indexed label, of all such labels the rarest. ok is false if there is none, or
// if an index of the namespace is as good.
func (s *source) narrowed(namespace string, wanted []store.LabelValues) (found []any, ok bool) {
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

// wanted returns the labels that objects must have which a selector matches, as
// far as it says that. Selectors of other makes than apimachinery's may match as
// they like.
func wanted(selector labels.Selector) (wanted []store.LabelValues) {
	if reflect.TypeOf(selector) != selectorType {
		return nil
	}
	requirements, _ := selector.Requirements()
	for _, r := range requirements {
		switch r.Operator() {
		case selection.Equals, selection.DoubleEquals, selection.In:
			wanted = append(wanted, store.LabelValues{Label: r.Key(), Values: r.ValuesUnsorted()})
		}
	}
	return wanted
}

// isIn says whether an object is in a namespace. One without metadata isn't.
func isIn(obj any, namespace string) bool {
	m, err := meta.Accessor(obj)
	return err == nil && m.GetNamespace() == namespace
}

var selectorType = reflect.TypeOf(labels.NewSelector())
