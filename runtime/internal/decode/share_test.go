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

// The table of values has bounds, whatever goes through it, and knows how much
// it holds.
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
			b[0], b[1] = b[1], b[0] // Found again.
			continue
		}
		v.add(value{plan: p, text: text})
		if v.text > largestText {
			t.Fatalf("%d bytes of text", v.text)
		}
		if i%1000 != 0 {
			continue
		}
		held := 0
		for _, b := range v.buckets {
			held += len(b[0].text) + len(b[1].text)
		}
		if held != v.text {
			t.Fatalf("step %d: %d bytes are held, %d counted", i, held, v.text)
		}
	}
	if len(v.buckets) != largestValues {
		t.Errorf("%d buckets", len(v.buckets))
	}
}

// Values that go round in a circle of 200 are found, and so is what begins to
// repeat after thousands of objects in which it didn't.
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
	// One comes with each of the 200 metadata, which are shared as a whole.
	if len(late) > 400 {
		t.Errorf("%d maps with one content", len(late))
	}
}

// Shared values are equal to what would be decoded, over many objects.
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

// Without that option, nothing that can be changed is in two objects.
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

// scribble changes everything that v leads to.
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

// The tables of strings and values are bounded, whatever goes through them, and
// find what comes again.
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

// Strings that repeat are shared however they fall into the sets, whatever else
// goes through: 2,000 of them, four at a time beside six that don't repeat.
func TestTableKeepsWhatRepeats(t *testing.T) {
	var strs stringTable
	copies := map[*byte]bool{}
	for i := range 20_000 {
		for j := range 4 {
			content := fmt.Appendf(nil,
				"a prefix of more than sixteen bytes, %d, and an end as long", (4*i+j)%2000)
			if got := strs.get(content); i > 5000 {
				copies[unsafe.StringData(got)] = true // The table has its size by now.
			}
		}
		for j := range 6 {
			strs.share(fmt.Sprintf("%d of %d", j, i))
		}
	}
	// They are asked for 60,000 times; now and then many fall into one set.
	if len(copies) > 4000 {
		t.Errorf("%d copies of 2000 strings", len(copies))
	}
}
