package decode

import (
	"bytes"
	"fmt"
	"reflect"
	"runtime"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// TestFieldSetsAreShared checks that objects share the fieldsV1 of their managedFields, and no other map or
// slice, after ShareFieldSets. In one decoder of 64, the sets of both managers fall into one bucket of its
// table, until it grows, so one of four decoders has to share all.
func TestFieldSetsAreShared(t *testing.T) {
	objects, list, _ := customResources(300)
	fewest := len(objects)
	for range 4 {
		fewest = min(fewest, sharedSets(t, objects, list))
	}
	if fewest != 2 {
		t.Errorf("%d different sets of fields, want those of two managers", fewest)
	}
}

// sharedSets returns how many different fieldsV1 a new decoder makes of a list.
func sharedSets(t *testing.T, objects [][]byte, list []byte) int {
	t.Helper()
	d := newUnstructured(Options{})
	d.ShareFieldSets()
	got, _, _, err := listUnstructured(d, bytes.NewReader(list))
	if err != nil || len(got) != len(objects) {
		t.Fatalf("%d items, %v", len(got), err)
	}
	sets := map[uintptr]bool{}
	for i, data := range objects {
		want := &unstructured.Unstructured{}
		if err := want.UnmarshalJSON(data); err != nil || !reflect.DeepEqual(got[i], want) {
			t.Fatalf("%v, item %d is %v", err, i, got[i])
		}
		for _, entry := range managedFieldsOf(got[i]) {
			set := entry["fieldsV1"]
			sets[reflect.ValueOf(set).Pointer()] = true
			entry["fieldsV1"] = nil
		}
	}
	seen := map[uintptr]bool{}
	for _, at := range mutables(got) {
		if seen[at] {
			t.Fatal("objects share a map or a slice outside of the sets of fields")
		}
		seen[at] = true
	}
	return len(sets)
}

func managedFieldsOf(u *unstructured.Unstructured) (entries []map[string]any) {
	all, _, _ := unstructured.NestedFieldNoCopy(u.Object, "metadata", "managedFields")
	for _, entry := range all.([]any) {
		entries = append(entries, entry.(map[string]any))
	}
	return entries
}

// TestFieldSetsElsewhere checks that what only looks like a set of fields isn't shared.
func TestFieldSetsElsewhere(t *testing.T) {
	const set = `{"f:spec":{"f:replicas":{}}}`
	for _, object := range []string{
		`"spec":{"metadata":{"managedFields":[{"fieldsV1":%s}]}}`,
		`"metadata":{"managedFields":{"fieldsV1":%s}}`,
		`"metadata":{"managedFields":[[{"fieldsV1":%s}]]}`,
		`"metadata":{"managedFields":[{"fieldsV2":%s}]}`,
		`"metadata":{"managedFields":[{"entry":{"fieldsV1":%s}}]}`,
		`"metadata":{"fieldsV1":%s}`,
		`"managedFields":[{"fieldsV1":%s}]`,
	} {
		d := newUnstructured(Options{})
		d.ShareFieldSets()
		var got []*unstructured.Unstructured
		for range 3 {
			object, err := oneUnstructured(d, fmt.Appendf(nil, `{"apiVersion":"v1","kind":"A",`+object+`}`, set))
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, object.(*unstructured.Unstructured))
		}
		seen := map[uintptr]bool{}
		for _, at := range mutables(got) {
			if seen[at] {
				t.Errorf("shared: %s", object)
			}
			seen[at] = true
		}
	}
}

// TestFieldSetsAreBounded checks what a decoder holds of sets of fields when no object is left. Of each
// object one set is its own, and the other that of all.
func TestFieldSetsAreBounded(t *testing.T) {
	d := newUnstructured(Options{})
	d.ShareFieldSets()
	before := heap()
	for n := range 6000 {
		_, err := oneUnstructured(d, fmt.Appendf(nil, `{"apiVersion":"v1","kind":"A","metadata":{"managedFields":[
			{"fieldsV1":{"f:metadata":{"f:ownerReferences":{"k:{\"uid\":\"uid-%d\"}":{}},
				"f:labels":{"f:a":{}},"f:annotations":{"f:b":{}},"f:finalizers":{"v:c":{}}},
				"f:spec":{"f:d":{"f:e":{}}}}},
			{"fieldsV1":{"f:status":{"f:phase":{},"f:podIP":{},"f:startTime":{},"f:conditions":{}}}}]}}`, n))
		if err != nil {
			t.Fatal(err)
		}
	}
	held := heap() - before
	t.Logf("the decoder holds %d KB", held>>10)
	if held > 2*largestShared {
		t.Errorf("the decoder holds %d KB", held>>10)
	}
	runtime.KeepAlive(d)
}

func heap() int {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}
