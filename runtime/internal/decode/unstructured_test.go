package decode

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func newUnstructured(opts Options) *Decoder {
	return New(reflect.TypeFor[*unstructured.Unstructured](), opts)
}

// compareUnstructured compares the decoding of one object with apimachinery's decoder.
func compareUnstructured(t *testing.T, d *Decoder, data []byte) {
	t.Helper()
	want := &unstructured.Unstructured{}
	_, _, wantErr := unstructured.UnstructuredJSONScheme.Decode(data, nil, want)
	got, gotErr := oneUnstructured(d, data)
	switch {
	case (wantErr == nil) != (gotErr == nil):
		t.Fatalf("we say %v, they %v, of\n%s", gotErr, wantErr, clip(data))
	case wantErr == nil && !reflect.DeepEqual(got, want):
		t.Fatalf("different objects of\n%s\nwe give\n%#v\nthey\n%#v", clip(data), got, want)
	}
}

// oneUnstructured decodes data, which is one object and nothing else, as the object of an event.
func oneUnstructured(d *Decoder, data []byte) (any, error) {
	r := reader{Decoder: d, in: inputOf(data)}
	if _, err := r.peek(); err != nil {
		return nil, err
	}
	var object any
	err := r.try(func(d *jsonDecoder) (ok bool) {
		object, ok = r.object(d)
		return ok && d.checkKind(object)
	})
	if err == nil {
		err = r.checkEOF()
	}
	return object, err
}

// compareUnstructuredList compares the decoding of a list with apimachinery's decoder. A list that has its
// items, its kind or its version twice may be refused.
func compareUnstructuredList(t *testing.T, d *Decoder, data []byte, from io.Reader) {
	t.Helper()
	want := &unstructured.UnstructuredList{}
	_, _, wantErr := unstructured.UnstructuredJSONScheme.Decode(data, nil, want)
	got, typ, meta, err := listUnstructured(d, from)
	switch {
	case err != nil && wantErr == nil && hasTwice(data):
		return
	case (wantErr == nil) != (err == nil):
		t.Fatalf("we say %v, they %v, of\n%s", err, wantErr, clip(data))
	case err != nil:
		return
	}
	wantMeta := metav1.ListMeta{
		SelfLink: want.GetSelfLink(), ResourceVersion: want.GetResourceVersion(), Continue: want.GetContinue(),
		RemainingItemCount: want.GetRemainingItemCount(), ShardInfo: meta.ShardInfo,
	}
	wantType := metav1.TypeMeta{Kind: want.GetKind(), APIVersion: want.GetAPIVersion()}
	if typ != wantType || !reflect.DeepEqual(meta, wantMeta) || len(got) != len(want.Items) {
		t.Fatalf("%d items of %v with %v, expected %d, %v and %v, of\n%s",
			len(got), typ, meta, len(want.Items), wantType, wantMeta, clip(data))
	}
	for i := range got {
		if !reflect.DeepEqual(got[i], &want.Items[i]) {
			t.Fatalf("item %d of\n%s\nwe give\n%#v\nthey\n%#v", i, clip(data), got[i], want.Items[i])
		}
	}
}

// hasTwice reports whether a list has its items, its kind or its version twice.
func hasTwice(list []byte) bool {
	d := json.NewDecoder(bytes.NewReader(list))
	seen := map[json.Token]bool{}
	for _, err := d.Token(); err == nil && d.More(); {
		var name json.Token
		var value json.RawMessage
		if name, err = d.Token(); err == nil {
			err = d.Decode(&value)
		}
		if seen[name] && (name == "items" || name == "kind" || name == "apiVersion") {
			return true
		}
		seen[name] = true
	}
	return false
}

func listUnstructured(d *Decoder, from io.Reader) (
	items []*unstructured.Unstructured, typ metav1.TypeMeta, meta metav1.ListMeta, err error,
) {
	meta, err = d.List(from, ListVisitor{
		Type: func(is metav1.TypeMeta) error { typ = is; return nil },
		Item: func(item any) error { items = append(items, item.(*unstructured.Unstructured)); return nil },
	})
	return items, typ, meta, err
}

// unstructuredDocuments are whole objects and parts of them.
var unstructuredDocuments = append([]string{
	`-0.0`, `1E3`, `1e-3`, `-1e3`, `12345678901234567`, `999999999999999999`, `-999999999999999999`,
	`1000000000000000000`, `-0.5`,
	`255`, `-255`, `1e999`, `[1e999]`, `{"a":{"b":-1e999}}`, `{"a":1,"a":{"b":2},"b":3,"a":[4]}`,
	`{"\u0061":1,"a":2}`, "{\"\xff\":1,\"\xfe\":2}",
	`{"kind":"K"}`, `{"apiVersion":"v1"}`, `{"kind":"K","apiVersion":"a/b"}`,
	`{"kind":"K","apiVersion":"a/b/c"}`, `{"kind":"","apiVersion":""}`,
	`{"Kind":"K","APIVersion":"v1"}`, `{"kind":null,"apiVersion":null}`, `{"kind":"K","kind":null}`,
	`{"kind":5,"apiVersion":6}`,
	`{"items":[]}`, `{"items":[{"kind":"K"}],"kind":"K"}`, `{"metadata":[{"name":"n"}],"kind":"K"}`,
	`{"metadata":{"name":5,"uid":null,"resourceVersion":{}},"kind":"K"}`,
	`{"metadata":{"name":"n","name":"m","uid":"","labels":{"name":"n"}},"kind":"K"}`,
	`{"a":{"metadata":{"name":"n"}},"kind":"K"}`,
	`{"resourceVersion":"7","continue":"c","remainingItemCount":3,"selfLink":"s","shardInfo":{"selector":"x"}}`,
	`{"resourceVersion":7,"continue":null,"remainingItemCount":3.5,"selfLink":[],"shardInfo":5}`,
	`{"shardInfo":{"selector":5}}`,
	`"K"`, `"KList"`, `"List"`, `"a/v1"`, `"a/b/c"`,
}, documents...)

// eachUnstructured calls f with documents in all places of objects.
func eachUnstructured(f func(data []byte)) {
	for _, doc := range unstructuredDocuments {
		for _, around := range []string{
			`%s`, ` {"kind":"K","apiVersion":"v1","v":%s} `, `{"kind":"K","v":[%s,{"w":%[1]s}]}`, `{"kind":%s}`,
			`{"kind":"K","apiVersion":%s}`,
			`{"kind":"K","metadata":%s}`, `{"kind":"K","metadata":{"name":%s,"uid":%[1]s,"labels":{"a":%[1]s}}}`,
			`{"kind":%s,"kind":"K"}`, `{"kind":"K","items":%s}`,
		} {
			f(fmt.Appendf(nil, around, doc))
		}
	}
}

// eachUnstructuredList does the same for lists.
func eachUnstructuredList(f func(data []byte)) {
	for _, doc := range unstructuredDocuments {
		for _, around := range []string{
			`%s`, `{"kind":"KList","apiVersion":"v1","items":[%s]}`,
			`{"apiVersion":"v1","items":[{},%s,null,{"kind":"X"}],"kind":"KList"}`,
			`{"items":[null,{"kind":"L"}],"kind":%s,"apiVersion":"v1"}`,
			`{"items":[{"a":1},{}],"apiVersion":%s,"kind":"KList"}`, `{"kind":"KList","metadata":%s}`,
			`{"kind":"KList","apiVersion":"v1","items":%s}`,
			`{"kind":"List","v":%s,"metadata":{"resourceVersion":%[1]s}}`,
			`{"kind":"A","kind":%s,"items":[{}],"apiVersion":"v1"}`,
			`{"kind":"A","apiVersion":"v1","items":[{}],"kind":%s}`, `{"kind":"A","items":null,"items":[%s]}`,
			`{"kind":"A","items":[%s],"items":null}`,
			`{"kind":"A","metadata":{"resourceVersion":"1"},"metadata":%s}`,
			`{"kind":"A","apiVersion":"v1","items":[{"kind":%s},{"apiVersion":%[1]s}]}`,
		} {
			f(fmt.Appendf(nil, around, doc))
		}
	}
}

func TestUnstructuredDocuments(t *testing.T) {
	for _, opts := range []Options{{}, {ShareValues: true}} {
		d := newUnstructured(opts)
		eachUnstructured(func(data []byte) { compareUnstructured(t, d, data) })
		eachUnstructuredList(func(data []byte) {
			compareUnstructuredList(t, d, data, bytes.NewReader(data))
			compareUnstructuredList(t, d, data, iotest.OneByteReader(bytes.NewReader(data)))
		})
	}
}

// TestUnstructuredDepth checks that depth counts from the beginning of a list.
func TestUnstructuredDepth(t *testing.T) {
	d := newUnstructured(Options{})
	for n := maxDepth - 4; n <= maxDepth+1; n++ {
		deep := strings.Repeat("[", n) + strings.Repeat("]", n)
		compareUnstructured(t, d, []byte(`{"kind":"K","a":`+deep+`}`))
		for _, list := range []string{`{"kind":"K","a":%s}`, `{"kind":"K","items":[{"a":%s}]}`} {
			data := fmt.Appendf(nil, list, deep)
			compareUnstructuredList(t, d, data, bytes.NewReader(data))
		}
	}
}

// TestUnstructuredKinds compares objects, lists and watches of every kind, decoded as unstructured objects,
// with the results of apimachinery's decoder.
func TestUnstructuredKinds(t *testing.T) {
	fill := newObjects(7)
	eachKind(t, "", 200, func(t *testing.T, gvk schema.GroupVersionKind, typ reflect.Type) {
		plain, sharing := newUnstructured(Options{}), newUnstructured(Options{ShareValues: true})
		for range *perKind {
			obj, data := fill.one(t, typ)
			if object, ok := obj.(runtime.Object); ok && fill.rand.Intn(8) > 0 {
				object.GetObjectKind().SetGroupVersionKind(gvk)
				data, _ = json.Marshal(object)
			}
			for range 2 {
				compareUnstructured(t, plain, data)
				compareUnstructured(t, sharing, data)
			}
		}
	})
	eachKind(t, runtime.ContentTypeJSON, 145, func(t *testing.T, gvk schema.GroupVersionKind, typ reflect.Type) {
		decoders := []*Decoder{newUnstructured(Options{}), newUnstructured(Options{ShareValues: true})}
		list := unstructuredWire{t, fill, decoders}
		for done := 0; done < *perKind; done += perList {
			var items [][]byte
			for range min(perList, *perKind-done) {
				obj, _ := fill.one(t, typ)
				if fill.rand.Intn(2) == 0 {
					obj.(runtime.Object).GetObjectKind().SetGroupVersionKind(gvk)
				}
				data, err := json.Marshal(obj)
				if err != nil {
					t.Fatal(err)
				}
				items = append(items, data)
			}
			list.list(gvk, items)
			list.watch(items)
		}
	})
}

type unstructuredWire struct {
	*testing.T
	objects
	decoders []*Decoder
}

// list compares a list of the items, whose names come in any order.
func (w unstructuredWire) list(gvk schema.GroupVersionKind, items [][]byte) {
	version, kind := gvk.ToAPIVersionAndKind()
	members := []string{
		fmt.Sprintf(`"kind":"%sList"`, kind), fmt.Sprintf(`"apiVersion":%q`, version),
		`"metadata":{"resourceVersion":"5","remainingItemCount":3}`,
		fmt.Sprintf(`"items":[%s]`, bytes.Join(items, []byte(","))),
	}
	w.rand.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
	data := []byte("{" + strings.Join(members, ",") + "}")
	for _, d := range w.decoders {
		compareUnstructuredList(w.T, d, data, w.reads(data))
	}
}

// watch compares events of the items that have a kind.
func (w unstructuredWire) watch(items [][]byte) {
	var body bytes.Buffer
	var want []*unstructured.Unstructured
	for _, item := range items {
		u := &unstructured.Unstructured{}
		if u.UnmarshalJSON(item) == nil {
			fmt.Fprintf(&body, `{"type":"ADDED","object":%s}`, item)
			want = append(want, u)
		}
	}
	for _, d := range w.decoders {
		events := d.Events(w.reads(body.Bytes()))
		for i := range want {
			if got, err := events.Next(); err != nil || !reflect.DeepEqual(got.Object, want[i]) {
				w.Fatalf("%v, event %d is %#v", err, i, got.Object)
			}
		}
		if _, err := events.Next(); err != io.EOF {
			w.Fatal(err)
		}
	}
}
