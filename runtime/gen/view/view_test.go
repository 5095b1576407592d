package view_test

import (
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubewright/kubewright/runtime/gen/view"
)

// TestList checks that a view of a list has the elements of the list, in order.
func TestList(t *testing.T) {
	for n := range 5 {
		var list []int
		for range n {
			list = append(list, rand.Int())
		}
		v := view.ListOf(list)
		if v.Len() != n {
			t.Errorf("%d elements of %d", v.Len(), n)
		}
		for i, e := range v.All() {
			if e != list[i] || v.At(i) != list[i] {
				t.Errorf("element %d: %d, %d, want %d", i, e, v.At(i), list[i])
			}
		}
		for range v.All() {
			break // must end the loop
		}
		for _, i := range []int{-1, n} {
			func() {
				defer func() {
					if recover() == nil {
						t.Errorf("no panic at %d of %d", i, n)
					}
				}()
				v.At(i)
			}()
		}
	}
	if (view.List[int]{}).Len() != 0 {
		t.Error("the zero value is not empty")
	}
}

// TestMap checks that a view of a map has the entries of the map.
func TestMap(t *testing.T) {
	for _, m := range []map[string]int{nil, {}, {"a": 1}, {"a": 1, "b": 2, "": 3}} {
		v := view.MapOf(m)
		if got := maps.Collect(v.All()); v.Len() != len(m) || !maps.Equal(got, m) {
			t.Errorf("%v of %v", got, m)
		}
		for _, key := range []string{"", "a", "b", "c"} {
			want, there := m[key]
			if got, ok := v.Get(key); got != want || ok != there {
				t.Errorf("%q: %d, %t of %v", key, got, ok, m)
			}
		}
	}
	var zero view.Map[string, int]
	if _, ok := zero.Get("a"); ok || len(maps.Collect(zero.All())) != 0 {
		t.Error("the zero value is not empty")
	}
}

func TestOptional(t *testing.T) {
	if _, ok := view.Optional[int](nil); ok {
		t.Error("nil has a value")
	}
	n := 7
	if got, ok := view.Optional(&n); got != 7 || !ok {
		t.Errorf("%d, %t", got, ok)
	}
	if got, ok := view.Pointer(&n, func(n *int) int { return *n + 1 }); got != 8 || !ok {
		t.Errorf("%d, %t", got, ok)
	}
	if _, ok := view.Pointer(nil, func(*int) int { panic("called") }); ok {
		t.Error("nil has a view")
	}
}

// odd has kinds of fields that API types rarely have, and no DeepCopyInto.
type odd struct {
	Pointer  **int
	Array    [2][]string
	Map      map[string][]corev1.Volume
	Any      any
	Function func()
	Time     time.Time
	Nil      any
}

// TestCopy checks that copies equal their originals, and don't change with them, however deep the change.
func TestCopy(t *testing.T) {
	for range 50 {
		var pod corev1.Pod
		fill(reflect.ValueOf(&pod).Elem(), 10)
		n := rand.Int()
		p := &n
		original := odd{
			Pointer: &p, Array: [2][]string{{"a"}, nil},
			Map: map[string][]corev1.Volume{"a": pod.Spec.Volumes, "b": nil},
			Any: &pod, Time: time.Unix(1, 0),
		}
		first, second := view.Copy(original), view.CopyOf(&original)
		if !reflect.DeepEqual(first, original) || !reflect.DeepEqual(second, original) {
			t.Fatal("a copy differs")
		}
		scribble(reflect.ValueOf(&first))
		if !reflect.DeepEqual(second, original) {
			t.Fatal("changing a copy changed the original")
		}
		if slices.Equal(first.Array[0], original.Array[0]) {
			t.Fatal("nothing was changed")
		}
	}
}

// fill sets v to random values, down to a depth.
func fill(v reflect.Value, depth int) {
	if depth == 0 || rand.IntN(5) == 0 {
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), depth-1)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range v.Len() {
			fill(v.Index(i), depth-1)
		}
	case reflect.Map:
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(key, depth-1)
		fill(value, depth-1)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
	case reflect.Struct:
		if at, ok := v.Addr().Interface().(*metav1.Time); ok {
			*at = metav1.Unix(rand.Int64N(1e9), 0)
			return
		}
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fill(v.Field(i), depth-1)
			}
		}
	case reflect.String:
		v.SetString("some")
	case reflect.Int32, reflect.Int64:
		v.SetInt(rand.Int64N(100))
	}
}

// scribble changes everything reachable from v.
func scribble(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			scribble(v.Elem())
		}
	case reflect.Interface:
		if !v.IsNil() {
			scribble(v.Elem())
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			scribble(v.Index(i))
		}
	case reflect.Map:
		for key, value := range v.Seq2() {
			scribble(value)
			v.SetMapIndex(key, reflect.Value{})
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				scribble(v.Field(i))
			}
		}
	case reflect.String:
		if v.CanSet() {
			v.SetString("scribbled")
		}
	case reflect.Int, reflect.Int32, reflect.Int64:
		if v.CanSet() {
			v.SetInt(v.Int() + 1)
		}
	}
}

// TestObjectMeta compares the view of metadata with the metadata.
func TestObjectMeta(t *testing.T) {
	at := metav1.Unix(1e9, 0)
	seconds := int64(30)
	meta := &metav1.ObjectMeta{
		Name: "n", GenerateName: "g", Namespace: "ns", UID: "u", ResourceVersion: "7", Generation: 3,
		CreationTimestamp: at,
		DeletionTimestamp: &at, DeletionGracePeriodSeconds: &seconds, Labels: map[string]string{"a": "b"},
		Annotations:     map[string]string{"c": "d"},
		Finalizers:      []string{"f"},
		OwnerReferences: []metav1.OwnerReference{{Name: "o", Controller: new(bool)}},
	}
	before := meta.DeepCopy()
	v := view.OfObjectMeta(meta)
	deleted, _ := v.DeletionTimestamp()
	period, _ := v.DeletionGracePeriodSeconds()
	owner := v.OwnerReferences().At(0)
	got := &metav1.ObjectMeta{
		Name: v.Name(), GenerateName: v.GenerateName(), Namespace: v.Namespace(), UID: v.UID(),
		ResourceVersion: v.ResourceVersion(),
		Generation:      v.Generation(), CreationTimestamp: v.CreationTimestamp(),
		DeletionTimestamp:          &deleted,
		DeletionGracePeriodSeconds: &period,
		Labels:                     maps.Collect(v.Labels().All()),
		Annotations:                maps.Collect(v.Annotations().All()),
		Finalizers:                 []string{v.Finalizers().At(0)},
		OwnerReferences:            []metav1.OwnerReference{owner},
	}
	if !reflect.DeepEqual(got, meta) {
		t.Errorf("%+v, want %+v", got, meta)
	}
	*owner.Controller = true
	if !reflect.DeepEqual(meta, before) {
		t.Error("a view let something out that changed the object")
	}
}
