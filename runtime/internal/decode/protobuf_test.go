package decode

import (
	"bytes"
	"math/rand"
	"reflect"
	"testing"
	"testing/iotest"
	"unsafe"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/apitesting/fuzzer"
	metafuzzer "k8s.io/apimachinery/pkg/apis/meta/fuzzer"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/kubernetes/scheme"
)

// testProtobuf compares lists of T with the results of client-go's decoder, whole and cut.
func testProtobuf[T, L any, PT interface {
	*T
	runtime.Object
}, PL interface {
	*L
	runtime.Object
}](t *testing.T, version schema.GroupVersion, items func(PL) []T) {
	t.Run(reflect.TypeFor[T]().Name(), func(t *testing.T) {
		info := mediaType(t, runtime.ContentTypeProtobuf)
		encoder := scheme.Codecs.EncoderForVersion(info.Serializer, version)
		decoder := objectDecoder(info)
		fill := fuzzer.FuzzerFor(metafuzzer.Funcs, rand.NewSource(2),
			serializer.NewCodecFactory(scheme.Scheme)).NumElements(1, 4)
		for range min(*perKind, 8) {
			list := PL(new(L))
			fill.Fill(list)
			data, err := runtime.Encode(encoder, list)
			if err != nil {
				t.Fatal(err)
			}
			want := PL(new(L))
			if _, _, err := decoder.Decode(data, nil, want); err != nil {
				t.Fatal(err)
			}
			wantMeta := reflect.ValueOf(want).Elem().FieldByName("ListMeta").Interface()
			d := New(reflect.TypeFor[PT](), Options{})
			read := func(data []byte) (got []T, meta metav1.ListMeta, err error) {
				meta, err = d.ListProtobuf(iotest.HalfReader(bytes.NewReader(data)),
					ListVisitor{Item: func(item any) error {
						o := item.(PT)
						got = append(got, *(*T)(o))
						return nil
					}})
				return got, meta, err
			}
			got, meta, err := read(data)
			if err != nil || !reflect.DeepEqual(meta, wantMeta) || len(got) != len(items(want)) {
				t.Fatalf("%d items and %v, expected %d and %v: %v", len(got), meta, len(items(want)),
					wantMeta, err)
			}
			if len(got) > 0 && !reflect.DeepEqual(got, items(want)) {
				t.Fatal(difference(got, items(want)))
			}
			for n := range min(len(data), 300) {
				cut := data[:len(data)-1-n]
				_, _, err := read(cut)
				if _, _, theirs := decoder.Decode(cut, nil, PL(new(L))); (theirs == nil) != (err == nil) {
					t.Fatalf("cut by %d: %v, they say %v", n+1, err, theirs)
				}
			}
		}
	})
}

func TestProtobuf(t *testing.T) {
	testProtobuf[corev1.Pod](t, corev1.SchemeGroupVersion,
		func(l *corev1.PodList) []corev1.Pod { return l.Items })
	testProtobuf[corev1.Node](t, corev1.SchemeGroupVersion,
		func(l *corev1.NodeList) []corev1.Node { return l.Items })
	testProtobuf[corev1.Secret](t, corev1.SchemeGroupVersion,
		func(l *corev1.SecretList) []corev1.Secret { return l.Items })
	testProtobuf[appsv1.Deployment](t, appsv1.SchemeGroupVersion,
		func(l *appsv1.DeploymentList) []appsv1.Deployment { return l.Items })
	testProtobuf[batchv1.Job](t, batchv1.SchemeGroupVersion,
		func(l *batchv1.JobList) []batchv1.Job { return l.Items })
}

// TestMessages checks that messages of encoders are decoded by plans, whatever is dropped, with the same
// result as by the types' own methods, and that few plans leave messages to these methods.
func TestMessages(t *testing.T) {
	fill := newObjects(4)
	own := 0
	plans := map[*messagePlan]bool{}
	eachKind(t, runtime.ContentTypeProtobuf, 145,
		func(t *testing.T, _ schema.GroupVersionKind, typ reflect.Type) {
			whole := New(reflect.TypeFor[*struct{}](), Options{})
			cut := New(reflect.TypeFor[*struct{}](),
				Options{Drop: []string{"metadata.managedFields", "metadata.labels",
					"spec.template", "status"}})
			var before []byte
			for range min(*perKind, 20) {
				obj, _ := fill.one(t, typ)
				text, err := obj.(interface{ Marshal() ([]byte, error) }).Marshal()
				if err != nil {
					t.Fatal(err)
				}
				// A message that follows another is merged into it.
				text, before = append(before, text...), text
				for _, d := range []*Decoder{whole, cut} {
					want := reflect.New(typ)
					if err := want.Interface().(message).Unmarshal(text); err != nil {
						t.Fatal(err)
					}
					d.json.normalize(d.json.plans.without(d.cut, typ), want.UnsafePointer())
					got := reflect.New(typ)
					d.json.left = 1 << 30
					if plan := d.proto.messageOf(d.cut, typ); plan.own ||
						!d.proto.message(plan, text, got.UnsafePointer()) {
						t.Fatal("not by plan")
					}
					if !reflect.DeepEqual(got.Interface(), want.Interface()) {
						t.Fatal(difference(got.Interface(), want.Interface()))
					}
				}
			}
			for _, plan := range whole.proto.messages {
				plans[plan] = true
				if plan.own && plan.typ.Kind() == reflect.Struct && plan.typ.NumField() > 4 {
					own++
				}
			}
		})
	t.Logf("%d of %d plans leave it to the type", own, len(plans))
	if own > len(plans)/50 {
		t.Errorf("%d of %d plans leave it to the type", own, len(plans))
	}
}

// honest decodes what its tags describe, liar doesn't: it mistakes one field for the other.
type (
	honest struct {
		A string            `protobuf:"bytes,1,opt,name=a"`
		B string            `protobuf:"bytes,2,opt,name=b"`
		M map[string]string `protobuf:"bytes,3,rep,name=m"`
		N *int32            `protobuf:"varint,4,opt,name=n"`
	}
	liar honest
)

func (h *honest) Unmarshal(text []byte) error {
	d := protoDecoder{json: &jsonDecoder{}}
	d.json.left = 1 << 20
	p := &messagePlan{typ: reflect.TypeFor[honest]()}
	if !d.addFields(p, nil) || !d.message(p, text, unsafe.Pointer(h)) {
		return errNoProtobuf
	}
	return nil
}

func (l *liar) Unmarshal(text []byte) error {
	err := (*honest)(l).Unmarshal(text)
	l.A, l.B = l.B, l.A
	return err
}

// TestTagsAreVerified checks that a type whose method contradicts its tags is decoded by the method,
// whichever package declares it.
func TestTagsAreVerified(t *testing.T) {
	for typ, want := range map[reflect.Type]bool{
		reflect.TypeFor[honest](): true, reflect.TypeFor[liar](): false,
	} {
		for _, drop := range [][]string{{"B"}, nil, nil} {
			d := New(reflect.PointerTo(typ), Options{Drop: drop})
			p := &messagePlan{typ: typ}
			if !d.proto.addFields(p, d.cut) {
				t.Fatal("tags that aren't understood")
			}
			if got := d.proto.agrees(p); got != want {
				t.Errorf("%v without %v: %t", typ, drop, got)
			}
		}
	}
}

// TestNormalize checks that sharing strings doesn't change objects.
func TestNormalize(t *testing.T) {
	fill := fuzzer.FuzzerFor(metafuzzer.Funcs, rand.NewSource(3), serializer.NewCodecFactory(scheme.Scheme))
	d := New(reflect.TypeFor[*struct{}](), Options{})
	for gvk, typ := range scheme.Scheme.AllKnownTypes() {
		obj := reflect.New(typ)
		fill.Fill(obj.Interface())
		before := obj.Interface().(runtime.Object).DeepCopyObject()
		for range 2 {
			d.json.normalize(d.json.plans.forType(typ), obj.UnsafePointer())
			if !reflect.DeepEqual(obj.Interface(), before) {
				t.Fatalf("%v: %s", gvk, difference(obj.Interface(), before))
			}
		}
	}
}

// TestNoProtobuf checks that a list of a type without protobuf is refused.
func TestNoProtobuf(t *testing.T) {
	if _, err := New(reflect.TypeFor[*Names](), Options{}).ListProtobuf(
		bytes.NewReader(nil), ListVisitor{},
	); err != errNoProtobuf {
		t.Error(err)
	}
	if _, err := New(reflect.TypeFor[*Names](),
		Options{}).EventsProtobuf(bytes.NewReader(nil)).Next(); err != errNoProtobuf {
		t.Error(err)
	}
}
