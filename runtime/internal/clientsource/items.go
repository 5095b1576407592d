package clientsource

import (
	"fmt"
	"reflect"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubewright/kubewright/runtime/internal/sources"
)

// readList calls item with each item of list, copied out of the list. If t isn't nil, all
// items must be of that type, a pointer.
func readList(list runtime.Object, t reflect.Type, item func(any) error) (sources.ListMeta, error) {
	if u, ok := list.(*unstructured.UnstructuredList); ok && isTable(u.GroupVersionKind()) {
		return sources.ListMeta{}, fmt.Errorf("unsupported list gvk: %v", u.GroupVersionKind())
	}
	m, err := meta.ListAccessor(list)
	if err != nil {
		return sources.ListMeta{}, incomprehensible(list, err)
	}
	if err := eachItem(list, t, item); err != nil {
		return sources.ListMeta{}, err
	}
	return sources.ListMeta{ResourceVersion: m.GetResourceVersion(), Continue: m.GetContinue()}, nil
}

func eachItem(list runtime.Object, t reflect.Type, item func(any) error) error {
	items, err := meta.GetItemsPtr(list)
	if err != nil {
		return incomprehensible(list, err)
	}
	// These are the two shapes of generated lists. client-go's way, below, would use
	// reflection for each item.
	if slice := reflect.ValueOf(items).Elem(); t != nil && slice.Kind() == reflect.Slice {
		switch slice.Type().Elem() {
		case t:
			for i := range slice.Len() {
				if err := item(slice.Index(i).Interface()); err != nil {
					return err
				}
			}
			return nil
		case t.Elem():
			for i := range slice.Len() {
				obj := reflect.New(t.Elem())
				obj.Elem().Set(slice.Index(i))
				if err := item(obj.Interface()); err != nil {
					return err
				}
			}
			return nil
		}
	}
	objects, err := meta.ExtractListWithAlloc(list)
	if err != nil {
		return incomprehensible(list, err)
	}
	for i, obj := range objects {
		if t != nil && reflect.TypeOf(obj) != t {
			return fmt.Errorf("item %d of %T is a %T, expected %v", i, list, obj, t)
		}
		if err := item(obj); err != nil {
			return err
		}
	}
	return nil
}

// incomprehensible is the error for a result that isn't a list. It doesn't show the result, which may contain
// secrets.
func incomprehensible(list runtime.Object, err error) error {
	return fmt.Errorf("unable to understand list result of type %T: %w", list, err)
}

// isTable recognises Table, the representation for people, which contains no objects.
func isTable(gvk schema.GroupVersionKind) bool {
	return gvk.Group == metav1.GroupName && gvk.Kind == "Table" &&
		(gvk.Version == "v1" || gvk.Version == "v1beta1")
}
