package decode

import (
	"errors"
	"reflect"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Unstructured objects are maps, decoded as unstructured.UnstructuredJSONScheme decodes them. Lists of
// them are decoded as it decodes an UnstructuredList:
//
//   - An item that has neither kind nor apiVersion gets those of the list, without "List" at the end.
//     In lists of custom resources, API servers write the names in alphabetical order, items before
//     kind. So such an item, and all that follow it, may have to wait for the end of the list.
//     Custom resources always have a kind, and don't wait.
//   - A list and the object of an event must have a kind. An item needn't: if it has an apiVersion
//     but no kind, it stays without a kind.
//   - Values of any type are accepted. A kind that isn't a string counts as none.

var unstructuredType = reflect.TypeFor[unstructured.Unstructured]()

var (
	errNoKind    = errors.New("an object without a kind")
	errKindTwice = errors.New("the list has two kinds or versions")
)

// unstructured decodes an unstructured object, whose kind isn't checked.
func (d *jsonDecoder) unstructured(c *cut) (*unstructured.Unstructured, bool) {
	u := &unstructured.Unstructured{}
	switch d.data[d.pos] {
	case '{':
		var ok bool
		u.Object, ok = d.untypedMap(c, wholeObject)
		return u, ok
	case 'n':
		return u, d.literal("null")
	}
	return u, d.mismatched(d.plans.forType(reflect.TypeFor[map[string]any]()))
}

// hasKind reports whether apimachinery finds a kind in an object with these values for kind and
// apiVersion. If it can't parse the apiVersion, it ignores the kind, too.
func hasKind(kind, apiVersion string) bool {
	_, err := schema.ParseGroupVersion(apiVersion)
	return err == nil && kind != ""
}

// stringIn returns the string of that name, empty if there is none or another type.
func stringIn(m map[string]any, name string) string {
	s, _ := m[name].(string)
	return s
}

// checkKind fails if an unstructured object has no kind.
func (d *jsonDecoder) checkKind(object any) bool {
	u, ok := object.(*unstructured.Unstructured)
	if ok && !hasKind(stringIn(u.Object, "kind"), stringIn(u.Object, "apiVersion")) {
		return d.fail(errNoKind)
	}
	return true
}

// unstructuredList is what is known so far of the kind of a list of unstructured objects.
type unstructuredList struct {
	hasKind, hasVersion bool
	// kind and version are those for items, as interfaces: all items share these.
	kind, version any
	// given means that items have got them.
	given bool
	// waiting are the items that wait for the end of the list.
	waiting []found
}

// unstructuredMember decodes a member of a list other than its items. If a name comes twice, the
// second value counts; it is an error if a different first one was used already.
func (l *list) unstructuredMember(name string) error {
	var value any
	err := l.try(func(d *jsonDecoder) (ok bool) {
		value, ok = d.untyped(nil)
		return ok
	})
	if err != nil {
		return err
	}
	before := l.typ
	switch name {
	case "kind":
		l.typ.Kind, _ = value.(string)
		l.untyped.hasKind = true
	case "apiVersion":
		l.typ.APIVersion, _ = value.(string)
		l.untyped.hasVersion = true
	case "metadata":
		l.meta = untypedListMeta(value)
	}
	if l.typ != before && (l.typed || l.untyped.given) {
		return l.failed(errKindTwice)
	}
	return nil
}

// untypedListMeta returns the metadata of a list, without values of the wrong type.
func untypedListMeta(metadata any) metav1.ListMeta {
	list := unstructured.UnstructuredList{Object: map[string]any{"metadata": metadata}}
	typed := metav1.ListMeta{
		SelfLink:           list.GetSelfLink(),
		ResourceVersion:    list.GetResourceVersion(),
		Continue:           list.GetContinue(),
		RemainingItemCount: list.GetRemainingItemCount(),
	}
	if shard, ok, err := unstructured.NestedMap(list.Object, "metadata", "shardInfo"); ok && err == nil {
		typed.ShardInfo = &metav1.ShardInfo{}
		if runtime.DefaultUnstructuredConverter.FromUnstructured(shard, typed.ShardInfo) != nil {
			typed.ShardInfo = nil
		}
	}
	return typed
}

// waits reports whether an item has to wait for the end of the list. Then it keeps the item. known
// means that the item is from the cache.
func (l *list) waits(item any, known bool) bool {
	if len(l.untyped.waiting) == 0 && (known || l.inherit(item)) {
		return false
	}
	l.untyped.waiting = append(l.untyped.waiting, found{object: item, fromCache: known})
	return true
}

// inherit gives an item that has neither kind nor version those of the list. It returns false if the
// list's may still come.
func (l *list) inherit(item any) bool {
	u, ok := item.(*unstructured.Unstructured)
	if !ok || stringIn(u.Object, "kind") != "" || stringIn(u.Object, "apiVersion") != "" {
		return true
	}
	if !l.untyped.hasKind || !l.untyped.hasVersion {
		return false
	}
	if !l.untyped.given {
		l.untyped.given = true
		l.untyped.kind, l.untyped.version = strings.TrimSuffix(l.typ.Kind, "List"), l.typ.APIVersion
	}
	if u.Object == nil {
		u.Object = map[string]any{}
	}
	u.Object["kind"], u.Object["apiVersion"] = l.untyped.kind, l.untyped.version
	return true
}

// endUnstructured checks the kind of a list at its end, and hands over the items that waited for it.
func (l *list) endUnstructured() error {
	if !hasKind(l.typ.Kind, l.typ.APIVersion) {
		return l.failed(errNoKind)
	}
	l.untyped.hasKind, l.untyped.hasVersion = true, true
	for i, item := range l.untyped.waiting {
		if !item.fromCache {
			l.inherit(item.object)
		}
		l.untyped.waiting[i] = found{}
		if err := l.visitor.Item(item.object); err != nil {
			return err
		}
	}
	return nil
}
