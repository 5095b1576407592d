package decode

import (
	"bytes"
	"fmt"
	"math/rand"
	"reflect"
	"strings"
	"testing"
	"unsafe"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
)

// TestValuesAreBounded checks that the table of values stays within its bounds, whatever is put into it, and
// that it counts its size correctly.
func TestValuesAreBounded(t *testing.T) {
	random := rand.New(rand.NewSource(1))
	var v valueTable
	p := &plan{}
	for i := range 100_000 {
		size := random.Intn(200)
		if i > 30_000 && i < 60_000 {
			size = random.Intn(longestValue)
		}
		text := []byte(fmt.Sprint(random.Intn(1+i/3)) + strings.Repeat("x", size))
		b := v.bucket(text)
		if b[1].plan != nil && random.Intn(3) == 0 {
			b[0], b[1] = b[1], b[0] // found again
			continue
		}
		v.add(value{plan: p, text: text, size: len(text)})
		if v.size > largestShared {
			t.Fatalf("%d bytes of text", v.size)
		}
		if i%1000 != 0 {
			continue
		}
		held := 0
		for _, b := range v.buckets {
			held += b[0].size + b[1].size
		}
		if held != v.size {
			t.Fatalf("step %d: %d bytes are held, %d counted", i, held, v.size)
		}
	}
	if len(v.buckets) != largestValues {
		t.Errorf("%d buckets", len(v.buckets))
	}
}

// TestSharingFindsLateRepetition checks that values that recur with a period of 200 are found, and values
// that start to repeat after thousands of objects.
func TestSharingFindsLateRepetition(t *testing.T) {
	const objects = 20_000
	var list bytes.Buffer
	list.WriteString(`{"items":[`)
	for i := range objects {
		if i > 0 {
			list.WriteByte(',')
		}
		fickle := i
		if i > 5000 {
			fickle = 7
		}
		fmt.Fprintf(&list, `{"metadata":{"labels":{"circle":"%d"},"annotations":{"fickle":"%d"}}}`,
			i%200, fickle)
	}
	list.WriteString(`]}`)
	d := New(reflect.TypeFor[*corev1.ConfigMap](), Options{ShareValues: true})
	n, labels, late := 0, map[string]bool{}, map[string]bool{}
	_, err := d.List(&list, ListVisitor{Item: func(item any) error {
		o := item.(*corev1.ConfigMap)
		labels[fmt.Sprintf("%p", o.Labels)] = true
		if n++; n > objects/2 {
			late[fmt.Sprintf("%p", o.Annotations)] = true
		}
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	if len(labels) > 1000 {
		t.Errorf("%d maps with 200 different contents", len(labels))
	}
	// There is one for each of the 200 metadata, which are shared as a whole.
	if len(late) > 400 {
		t.Errorf("%d maps with one content", len(late))
	}
}

// TestShareValues checks over many objects that shared values equal those decoded without sharing.
func TestShareValues(t *testing.T) {
	objects, list := deployments(300)
	got, _, err := listAll(New(reflect.TypeFor[*appsv1.Deployment](), Options{ShareValues: true}),
		bytes.NewReader(list))
	if err != nil || !reflect.DeepEqual(got, whole(t, objects)) {
		t.Fatalf("%d items, %v", len(got), err)
	}
	a, b := got[len(got)-1].Spec.Template.Spec.Containers, got[len(got)-2].Spec.Template.Spec.Containers
	if &a[0] != &b[0] {
		t.Error("equal containers are not shared")
	}
}

// TestNothingMutableIsShared checks that, without ShareValues, no two objects share memory that can be
// changed.
func TestNothingMutableIsShared(t *testing.T) {
	objects, list := deployments(100)
	got, _, err := listAll(New(reflect.TypeFor[*appsv1.Deployment](), Options{}), bytes.NewReader(list))
	if err != nil {
		t.Fatal(err)
	}
	scribble(reflect.ValueOf(got[0]).Elem())
	if !reflect.DeepEqual(got[1:], whole(t, objects)[1:]) {
		t.Error("a change of one object changed another")
	}
}

// scribble changes everything reachable from v.
func scribble(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			scribble(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			scribble(v.Field(i))
		}
	case reflect.Slice:
		for i := range v.Len() {
			scribble(v.Index(i))
		}
	case reflect.Map:
		for _, k := range v.MapKeys() {
			v.SetMapIndex(k, reflect.Value{})
		}
	}
	if v.CanSet() && v.Kind() != reflect.Pointer && v.Kind() != reflect.Struct && v.Kind() != reflect.Slice {
		switch v.Kind() {
		case reflect.String:
			v.SetString("scribbled")
		case reflect.Uint8:
			v.SetUint(v.Uint() + 1)
		case reflect.Int32, reflect.Int64:
			v.SetInt(v.Int() + 1)
		case reflect.Bool:
			v.SetBool(!v.Bool())
		}
	}
}

// TestTables checks that the tables of strings and values stay within their bounds, whatever is put into
// them, and find strings and values that recur.
func TestTables(t *testing.T) {
	var strs stringTable
	for i := range 200_000 {
		content := fmt.Appendf(nil, "%d", i)
		if got := strs.get(content); got != string(content) {
			t.Fatalf("%q for %q", got, content)
		}
		if got := strs.get([]byte("the same again")); got != "the same again" {
			t.Fatal(got)
		}
	}
	if len(strs.sets) != largestTable {
		t.Errorf("%d sets", len(strs.sets))
	}
	if strs.misses > 200_100 {
		t.Errorf("%d misses", strs.misses)
	}
}

// TestTableKeepsWhatRepeats checks that repeated strings are shared, whichever sets they fall into and
// however many others pass through: 2,000 of them, four at a time beside six that don't repeat.
func TestTableKeepsWhatRepeats(t *testing.T) {
	var strs stringTable
	copies := map[*byte]bool{}
	for i := range 20_000 {
		for j := range 4 {
			content := fmt.Appendf(nil,
				"a prefix of more than sixteen bytes, %d, and an end as long", (4*i+j)%2000)
			if got := strs.get(content); i > 5000 {
				copies[unsafe.StringData(got)] = true // by now the table has its final size
			}
		}
		for j := range 6 {
			strs.intern(fmt.Sprintf("%d of %d", j, i))
		}
	}
	// There are 60,000 look-ups; now and then many fall into one set.
	if len(copies) > 4000 {
		t.Errorf("%d copies of 2000 strings", len(copies))
	}
}
