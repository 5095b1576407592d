package listwatch

import (
	"fmt"
	"reflect"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	metav1beta1 "k8s.io/apimachinery/pkg/apis/meta/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// readList hands each item of list to item, allocated apart from the list.
func readList[T any](list runtime.Object, item func(T) error) (ListMeta, error) {
	if u, ok := list.(*unstructured.UnstructuredList); ok && isTable(u.GroupVersionKind()) {
		return ListMeta{}, fmt.Errorf("unsupported list gvk: %v", u.GroupVersionKind())
	}
	m, err := meta.ListAccessor(list)
	if err != nil {
		return ListMeta{}, fmt.Errorf("unable to understand list result %#v: %w", list, err)
	}
	if err := eachItem(list, item); err != nil {
		return ListMeta{}, err
	}
	return ListMeta{ResourceVersion: m.GetResourceVersion(), Continue: m.GetContinue()}, nil
}

func eachItem[T any](list runtime.Object, item func(T) error) error {
	items, err := meta.GetItemsPtr(list)
	if err != nil {
		return fmt.Errorf("unable to understand list result %#v: %w", list, err)
	}
	// The two shapes of a generated list when T is the pointer to its items.
	// []T is handed over as it is; the items of a slice of structs are found by
	// reflection once per list, not once per item.
	if pointers, ok := items.(*[]T); ok {
		for _, obj := range *pointers {
			if err := item(obj); err != nil {
				return err
			}
		}
		return nil
	}
	if elem := reflect.TypeFor[T](); elem.Kind() == reflect.Pointer {
		if slice := reflect.ValueOf(items).Elem(); slice.Kind() == reflect.Slice && slice.Type().Elem() == elem.Elem() {
			for i := range slice.Len() {
				obj := reflect.New(elem.Elem())
				obj.Elem().Set(slice.Index(i))
				if err := item(obj.Interface().(T)); err != nil {
					return err
				}
			}
			return nil
		}
	}
	objects, err := meta.ExtractListWithAlloc(list)
	if err != nil {
		return fmt.Errorf("unable to understand list result %#v: %w", list, err)
	}
	for i, obj := range objects {
		typed, ok := obj.(T)
		if !ok {
			return fmt.Errorf("item %d of %T is a %T, expected %v", i, list, obj, reflect.TypeFor[T]())
		}
		if err := item(typed); err != nil {
			return err
		}
	}
	return nil
}

// isTable recognises the representation for people, which a server sends to a
// client that asked for it. It has no objects in it.
func isTable(gvk schema.GroupVersionKind) bool {
	return gvk == metav1.SchemeGroupVersion.WithKind("Table") ||
		gvk == metav1beta1.SchemeGroupVersion.WithKind("Table")
}
