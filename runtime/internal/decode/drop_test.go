package decode

import (
	"bytes"
	"encoding/json"
	"math/rand"
	"reflect"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// irregular is a field that no type has, of the type group. A message with such a field is decoded by its
// type's own method.
var irregular = []byte{0xa3, 0x06, 0xa4, 0x06}

// path returns a random path of JSON names into a type. It may lead into a type with an UnmarshalJSON of its
// own, where nothing is dropped.
func path(rand *rand.Rand, t reflect.Type) string {
	var names []string
	for {
		switch t.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Map:
			t = t.Elem()
			continue
		}
		if t.Kind() != reflect.Struct || len(names) > 0 && rand.Intn(4) == 0 {
			break
		}
		fs := fieldsOf(t)
		if fs == nil || len(fs.list) == 0 {
			break
		}
		f := fs.list[rand.Intn(len(fs.list))]
		names, t = append(names, f.name()), f.typ
	}
	return strings.Join(names, ".")
}

// TestDropEverywhere checks that the same fields are dropped by the plan of a message, by a type's own
// method, and in JSON.
func TestDropEverywhere(t *testing.T) {
	fill := newObjects(5)
	eachKind(t, runtime.ContentTypeProtobuf, 145,
		func(t *testing.T, _ schema.GroupVersionKind, typ reflect.Type) {
			whole := decoderOf(typ, Options{})
			for i := range 1 + *perKind/4 {
				obj, _ := fill.one(t, typ)
				text, err := obj.(interface{ Marshal() ([]byte, error) }).Marshal()
				if err != nil {
					t.Fatal(err)
				}
				full, err := whole.fromProtobuf(text, nil)
				if err != nil {
					t.Fatal(err)
				}
				data, err := json.Marshal(full)
				if err != nil {
					t.Fatal(err)
				}
				opts := Options{MetadataOnly: i == 0}
				for range 1 + fill.rand.Intn(8) {
					opts.Drop = append(opts.Drop, path(fill.rand, typ))
				}
				byPlan, byMethod := decodeBothWays(t, typ, opts, text)
				if !reflect.DeepEqual(byPlan, byMethod) {
					t.Fatalf("%v: the plan and the method: %s", opts, difference(byPlan, byMethod))
				}
				fromJSON, err := decoderOf(typ, opts).unmarshal(data)
				if err != nil {
					t.Fatal(err)
				}
				if !equality.Semantic.DeepEqual(byPlan, fromJSON) {
					t.Fatalf("%v: protobuf and JSON: %s", opts, difference(byPlan, fromJSON))
				}
			}
		})
}

// decodeBothWays decodes a regular message by the plan and by the type's method.
func decodeBothWays(
	t *testing.T, typ reflect.Type, opts Options, text []byte,
) (byPlan, byMethod runtime.Object) {
	t.Helper()
	d := decoderOf(typ, opts)
	v := reflect.New(typ)
	d.json.left = 1 << 30
	if !d.proto.message(d.proto.messageOf(d.cut, typ), text, v.UnsafePointer()) {
		t.Fatal("not by plan")
	}
	other, err := d.fromProtobuf(append(text[:len(text):len(text)], irregular...), nil)
	if err != nil {
		t.Fatal(err)
	}
	return v.Interface().(runtime.Object), other.(runtime.Object)
}

// TestDropKinds checks that fields of every kind can be dropped: numbers and bools, and values in maps.
func TestDropKinds(t *testing.T) {
	yes, two := true, int32(2)
	pod := &corev1.Pod{Spec: corev1.PodSpec{HostNetwork: true, Priority: &two, EnableServiceLinks: &yes,
		NodeName: "n"}}
	pod.Generation = 3
	slice := &resourcev1.ResourceSlice{
		Spec: resourcev1.ResourceSliceSpec{SharedCounters: []resourcev1.CounterSet{{
			Name: "s", Counters: map[string]resourcev1.Counter{"c": {Value: resource.MustParse("5")}},
		}}}}
	for _, test := range []struct {
		name      string
		opts      Options
		obj, want interface {
			runtime.Object
			Marshal() ([]byte, error)
		}
	}{
		{"numbers", Options{Drop: []string{
			"metadata.generation", "spec.hostNetwork", "spec.priority", "spec.enableServiceLinks",
		}}, pod,
			&corev1.Pod{Spec: corev1.PodSpec{NodeName: "n"}}},
		{"all but metadata", Options{MetadataOnly: true},
			&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Generation: 3}, Immutable: &yes},
			&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Generation: 3}}},
		{"all but metadata, of an event", Options{MetadataOnly: true}, &corev1.Event{Count: 4},
			&corev1.Event{}},
		{"below a map", Options{Drop: []string{"spec.sharedCounters.counters.value"}}, slice,
			&resourcev1.ResourceSlice{
				Spec: resourcev1.ResourceSliceSpec{SharedCounters: []resourcev1.CounterSet{{
					Name: "s", Counters: map[string]resourcev1.Counter{"c": {}},
				}}}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			text, err := test.obj.Marshal()
			if err != nil {
				t.Fatal(err)
			}
			byPlan, byMethod := decodeBothWays(t, reflect.TypeOf(test.obj).Elem(), test.opts, text)
			if !equality.Semantic.DeepEqual(byPlan, test.want) {
				t.Errorf("by plan: %v", byPlan)
			}
			if !equality.Semantic.DeepEqual(byMethod, test.want) {
				t.Errorf("by the method: %v", byMethod)
			}
		})
	}
}

// TestDrop checks that dropped fields stay empty, and that everything else is unaffected.
func TestDrop(t *testing.T) {
	objects, list := deployments(5)
	want := whole(t, objects)
	for _, w := range want {
		w.ManagedFields = nil
		w.Spec.Template.Spec.Containers[0].Env = nil
		w.Status = appsv1.DeploymentStatus{}
	}
	opts := Options{Drop: []string{"metadata.managedFields", "spec.template.spec.containers.env", "status",
		"nothing.there"}}
	got, _, err := listAll(New(reflect.TypeFor[*appsv1.Deployment](), opts), bytes.NewReader(list))
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v, %v", got, err)
	}
	for i, w := range whole(t, objects) {
		want[i] = &appsv1.Deployment{TypeMeta: w.TypeMeta, ObjectMeta: w.ObjectMeta}
	}
	got, _, err = listAll(New(reflect.TypeFor[*appsv1.Deployment](), Options{MetadataOnly: true}),
		bytes.NewReader(list))
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v, %v", got, err)
	}
}
