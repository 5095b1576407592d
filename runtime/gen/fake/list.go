package fake

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/testing"

	"github.com/kubewright/kubewright/runtime/gen/client"
	"github.com/kubewright/kubewright/runtime/gen/internal/pointee"
)

// ClientWithList is a Client of a resource that can be listed.
type ClientWithList[T client.Object, L runtime.Object] struct {
	Client[T]
	lister[L]
}

// NewWithList returns a fake client of a resource that can be listed. L is the type of its
// lists and must be a pointer to a struct with a field Items of objects or pointers.
func NewWithList[T client.Object, L runtime.Object](
	fake *testing.Fake, namespace string, resource schema.GroupVersionResource, kind schema.GroupVersionKind,
	opts ...Option,
) *ClientWithList[T, L] {
	c := New[T](fake, namespace, resource, kind, opts...)
	return &ClientWithList[T, L]{*c, lister[L]{c.at}}
}

// lister adds the method that returns a list.
type lister[L runtime.Object] struct{ at *target }

// List records a list and returns those objects of the answer that match the label
// selector of opts. Field selectors are up to the reactors. List panics if a selector
// can't be parsed.
func (l *lister[L]) List(_ context.Context, opts metav1.ListOptions) (L, error) {
	list := pointee.New[L]()
	answer, selector, err := l.at.list(opts, pointee.New[L]())
	if answer != nil {
		selectItems(list, answer.(L), selector)
	}
	return list, err
}

// selectItems fills the empty list to with from's metadata and with the items
// that the selector matches. Items stays nil when there are none.
func selectItems(to, from runtime.Object, selector labels.Selector) {
	copyListMeta(to, from)
	var items []runtime.Object
	err := meta.EachListItem(from, func(item runtime.Object) error {
		if object, err := meta.Accessor(item); err == nil &&
			selector.Matches(labels.Set(object.GetLabels())) {
			items = append(items, item)
		}
		return nil
	})
	if err == nil && items != nil {
		err = meta.SetList(to, items)
	}
	if err != nil {
		panic(fmt.Sprintf("%T is not a list of objects: %v", from, err))
	}
}

// copyListMeta copies the metadata of a list: the whole ListMeta if the list gives access
// to it, else the fields that have accessors.
func copyListMeta(to, from runtime.Object) {
	if dst, src := listMeta(to), listMeta(from); dst != nil && src != nil {
		*dst = *src
		return
	}
	dst, err := meta.ListAccessor(to)
	if err != nil {
		return
	}
	src, err := meta.ListAccessor(from)
	if err != nil {
		return
	}
	dst.SetResourceVersion(src.GetResourceVersion())
	dst.SetContinue(src.GetContinue())
	dst.SetRemainingItemCount(src.GetRemainingItemCount())
	dst.SetSelfLink(src.GetSelfLink())
}

func listMeta(list runtime.Object) *metav1.ListMeta {
	accessor, ok := list.(metav1.ListMetaAccessor)
	if !ok {
		return nil
	}
	m, _ := accessor.GetListMeta().(*metav1.ListMeta)
	return m
}
