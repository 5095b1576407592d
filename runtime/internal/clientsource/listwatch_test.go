package clientsource_test

import (
	"context"
	"errors"
	"reflect"
	goruntime "runtime"
	"strings"
	"testing"

	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/runtime/internal/clientsource"
	"github.com/kubewright/kubewright/runtime/internal/sources"
	"github.com/kubewright/kubewright/runtime/runtimetest"
)

func TestMain(m *testing.M) {
	runtimetest.WithoutErrorBackoff()
	goleak.VerifyTestMain(m)
}

// each lists, and calls item with each object.
func each(
	ctx context.Context, s sources.Source, opts metav1.ListOptions, item func(any) error,
) (sources.ListMeta, error) {
	return s.List(ctx, opts, receiver(item))
}

type receiver func(any) error

func (r receiver) Add(obj any) error { return r(obj) }
func (receiver) Restart() error      { return errors.New("the page is read again") }

func collect[T any](t *testing.T, s sources.Source, opts metav1.ListOptions) ([]T, sources.ListMeta) {
	t.Helper()
	var items []T
	meta, err := each(t.Context(), s, opts, func(obj any) error { items = append(items, obj.(T)); return nil })
	if err != nil {
		t.Fatal(err)
	}
	return items, meta
}

// nameOf returns the name of a config map.
func nameOf(obj any) string { return obj.(*corev1.ConfigMap).Name }

// lister returns a lister-watcher with a fixed list.
func lister(list runtime.Object) *cache.ListWatch {
	return &cache.ListWatch{
		ListWithContextFunc: func(context.Context, metav1.ListOptions) (runtime.Object, error) {
			return list, nil
		}}
}

// fixedClient is a client with a fixed list.
type fixedClient struct{ list runtime.Object }

func (c fixedClient) List(context.Context, metav1.ListOptions) (runtime.Object, error) {
	return c.list, nil
}
func (c fixedClient) Watch(context.Context, metav1.ListOptions) (watch.Interface, error) {
	return nil, errors.ErrUnsupported
}

// fixed returns a source of config maps over a client with a fixed list.
func fixed(list runtime.Object) sources.Source {
	return clientsource.FromClient(reflect.TypeFor[*corev1.ConfigMap](),
		func() sources.Client[runtime.Object] { return fixedClient{list} }, clientsource.Options{})
}

// pointerList is a list of pointers, as some API repositories have.
type pointerList struct {
	metav1.TypeMeta
	metav1.ListMeta
	Items []*corev1.ConfigMap
}

func (l *pointerList) DeepCopyObject() runtime.Object { c := *l; return &c }

// TestListShapes checks that lists of all shapes result in the same objects, whether the type of the objects
// is known or not.
func TestListShapes(t *testing.T) {
	a, b := corev1.ConfigMap{}, corev1.ConfigMap{}
	a.Name, b.Name = "a", "b"
	meta := metav1.ListMeta{ResourceVersion: "7", Continue: "more"}
	for name, list := range map[string]runtime.Object{
		"structs":    &corev1.ConfigMapList{ListMeta: meta, Items: []corev1.ConfigMap{a, b}},
		"pointers":   &pointerList{ListMeta: meta, Items: []*corev1.ConfigMap{&a, &b}},
		"extensions": &metav1.List{ListMeta: meta, Items: []runtime.RawExtension{{Object: &a}, {Object: &b}}},
	} {
		t.Run(name, func(t *testing.T) {
			for _, source := range []sources.Source{
				fixed(list), clientsource.FromListerWatcher(lister(list), nil),
			} {
				var names []string
				items, m := collect[*corev1.ConfigMap](t, source, metav1.ListOptions{})
				for _, obj := range items {
					names = append(names, obj.Name)
				}
				if strings.Join(names, "") != "ab" || m.ResourceVersion != "7" || m.Continue != "more" {
					t.Errorf("%q, %+v", names, m)
				}
			}
		})
	}
	t.Run("unstructured", func(t *testing.T) {
		list := &unstructured.UnstructuredList{
			Items: []unstructured.Unstructured{{Object: map[string]any{"kind": "A"}}}}
		list.SetResourceVersion("7")
		items, m := collect[*unstructured.Unstructured](t, clientsource.FromListerWatcher(lister(list), nil),
			metav1.ListOptions{})
		if len(items) != 1 || items[0].GetKind() != "A" || m.ResourceVersion != "7" {
			t.Errorf("%v, %+v", items, m)
		}
	})
}

func TestBadLists(t *testing.T) {
	table := &unstructured.UnstructuredList{Object: map[string]any{"apiVersion": "meta.k8s.io/v1",
		"kind": "Table"}}
	for want, list := range map[string]runtime.Object{
		"unsupported list gvk":              table,
		"unable to understand list result":  &corev1.ConfigMap{},
		"item 0 of *v1.SecretList is a *v1": &corev1.SecretList{Items: make([]corev1.Secret, 1)},
	} {
		_, err := each(t.Context(), fixed(list), metav1.ListOptions{}, func(any) error { return nil })
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

func TestItemErrorEndsList(t *testing.T) {
	full := errors.New("full")
	list := &corev1.ConfigMapList{Items: make([]corev1.ConfigMap, 3)}
	calls := 0
	source := clientsource.FromListerWatcher(lister(list), nil)
	_, err := each(t.Context(), source, metav1.ListOptions{}, func(any) error { calls++; return full })
	if !errors.Is(err, full) || calls != 1 {
		t.Errorf("%v after %d calls", err, calls)
	}
}

// TestItemsApart checks that an item that is kept doesn't keep its list alive.
func TestItemsApart(t *testing.T) {
	kept := func() *corev1.ConfigMap {
		list := &corev1.ConfigMapList{Items: make([]corev1.ConfigMap, 2)}
		collected := make(chan struct{})
		defer func() {
			for range 100 {
				goruntime.GC()
				select {
				case <-collected:
					return
				default:
				}
			}
			t.Error("the list's array is still there")
		}()
		goruntime.AddCleanup(&list.Items[0], func(c chan struct{}) { close(c) }, collected)
		items, _ := collect[*corev1.ConfigMap](t, clientsource.FromListerWatcher(lister(list), nil),
			metav1.ListOptions{})
		list.Items = nil
		return items[1]
	}()
	goruntime.KeepAlive(kept)
}
