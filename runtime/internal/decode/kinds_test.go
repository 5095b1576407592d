package decode

import (
	"bytes"
	"encoding/json"
	"flag"
	"io"
	"math/rand"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"

	"k8s.io/apimachinery/pkg/api/apitesting/fuzzer"
	"k8s.io/apimachinery/pkg/api/meta"
	metafuzzer "k8s.io/apimachinery/pkg/apis/meta/fuzzer"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	kjson "k8s.io/apimachinery/pkg/util/json"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/scheme"

	promov1 "github.com/kubewright/kubewright/examples/apis/gift-cards.promo/v1"
	shopv1 "github.com/kubewright/kubewright/examples/apis/shop/v1"
	shopv1beta1 "github.com/kubewright/kubewright/examples/apis/shop/v1beta1"
)

// perKind is small, so that all tests take seconds; make nightly sets it to 1,000 for most.
var perKind = flag.Int("objects", 3, "random objects for each kind in differential tests")

// perList is the number of objects in a list, or of consecutive events.
const perList = 10

// kinds has the kinds of k8s.io/api and of our examples, and those that all groups share.
var kinds, kindCodecs = func() (*runtime.Scheme, serializer.CodecFactory) {
	all := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		scheme.AddToScheme, metav1.AddMetaToScheme, shopv1.AddToScheme, shopv1beta1.AddToScheme,
		promov1.AddToScheme,
	} {
		utilruntime.Must(add(all))
	}
	return all, serializer.NewCodecFactory(all)
}()

// objects fills objects at random. It leaves out the values that some types refuse to encode in JSON.
type objects struct {
	filler interface{ Fill(any) }
	rand   *rand.Rand
}

func newObjects(seed int64) objects {
	return objects{
		filler: fuzzer.FuzzerFor(metafuzzer.Funcs, rand.NewSource(seed), kindCodecs).NumElements(0, 3),
		rand:   rand.New(rand.NewSource(seed)),
	}
}

func (o objects) one(t *testing.T, typ reflect.Type) (obj any, data []byte) {
	for range 1000 {
		obj := reflect.New(typ).Interface()
		o.filler.Fill(obj)
		if data, err := json.Marshal(obj); err == nil {
			return obj, data
		}
	}
	t.Fatalf("nothing to be had of %v", typ)
	return nil, nil
}

// eachKind runs a test for each kind, or for those that have lists in an encoding.
func eachKind(
	t *testing.T, encoding string, least int, test func(*testing.T, schema.GroupVersionKind, reflect.Type),
) {
	count := 0
	for gvk, typ := range kinds.AllKnownTypes() {
		if gvk.Version == runtime.APIVersionInternal || strings.HasSuffix(gvk.Kind, "List") ||
			encoding != "" && !isListed(gvk, typ, encoding) {
			continue
		}
		count++
		t.Run(gvk.String(), func(t *testing.T) { test(t, gvk, typ) })
	}
	if count < least {
		t.Errorf("only %d kinds", count)
	}
}

func isListed(gvk schema.GroupVersionKind, typ reflect.Type, encoding string) bool {
	if encoding == runtime.ContentTypeProtobuf &&
		!reflect.PointerTo(typ).Implements(reflect.TypeFor[message]()) {
		return false
	}
	list, ok := kinds.AllKnownTypes()[listOf(gvk)]
	if !ok {
		return false
	}
	_, ok = list.FieldByName("Items")
	return ok
}

func listOf(gvk schema.GroupVersionKind) schema.GroupVersionKind {
	return gvk.GroupVersion().WithKind(gvk.Kind + "List")
}

// TestKinds compares the decoder with Kubernetes' own over objects of every kind.
func TestKinds(t *testing.T) {
	fill := newObjects(1)
	eachKind(t, "", 200, func(t *testing.T, _ schema.GroupVersionKind, typ reflect.Type) {
		d := New(reflect.TypeFor[*struct{}](), Options{})
		for range *perKind {
			_, data := fill.one(t, typ)
			compare(t, d, typ, data)
		}
	})
}

// TestKindsStreamed compares the decoder with client-go's over lists and watches of every kind, in both
// encodings, cut into reads of all sizes.
func TestKindsStreamed(t *testing.T) {
	fill := newObjects(2)
	for name, contentType := range map[string]string{
		"json": runtime.ContentTypeJSON, "protobuf": runtime.ContentTypeProtobuf,
	} {
		t.Run(name, func(t *testing.T) {
			eachKind(t, contentType, 145, func(t *testing.T, gvk schema.GroupVersionKind, typ reflect.Type) {
				w := newWire(gvk, typ, contentType)
				for done := 0; done < *perKind; done += perList {
					var batch []runtime.Object
					for range min(perList, *perKind-done) {
						obj, _ := fill.one(t, typ)
						batch = append(batch, obj.(runtime.Object))
					}
					w.list(t, fill, batch)
					w.watch(t, fill, batch)
				}
			})
		})
	}
}

// wire is one kind in one encoding.
type wire struct {
	gvk         schema.GroupVersionKind
	contentType string
	info        runtime.SerializerInfo
	encoder     runtime.Encoder
	theirs      runtime.Decoder
	// ours has several decoders, with options that don't change objects.
	ours []*Decoder
}

func newWire(gvk schema.GroupVersionKind, typ reflect.Type, contentType string) *wire {
	w := &wire{gvk: gvk, contentType: contentType}
	w.info, _ = runtime.SerializerInfoForMediaType(kindCodecs.SupportedMediaTypes(), contentType)
	w.encoder = kindCodecs.EncoderForVersion(w.info.Serializer, gvk.GroupVersion())
	w.theirs = kindCodecs.WithoutConversion().DecoderToVersion(w.info.Serializer, nil)
	for _, opts := range []Options{{}, {ShareValues: true}} {
		w.ours = append(w.ours, decoderOf(typ, opts))
	}
	return w
}

// reads cuts data into reads of random sizes.
func (o objects) reads(data []byte) io.Reader {
	switch o.rand.Intn(4) {
	case 0:
		return bytes.NewReader(data)
	case 1:
		return iotest.DataErrReader(bytes.NewReader(data))
	}
	return chunks{bytes.NewReader(data), o.rand, 1 << o.rand.Intn(16)}
}

// list compares one list, some of whose items have a kind, with client-go's result and, in JSON, with that of
// Kubernetes' decoder.
func (w *wire) list(t *testing.T, fill objects, batch []runtime.Object) {
	list, err := kinds.New(listOf(w.gvk))
	if err != nil {
		t.Fatal(err)
	}
	fill.filler.Fill(reflect.ValueOf(list).Elem().FieldByName("ListMeta").Addr().Interface())
	items := make([]runtime.Object, len(batch))
	for i, obj := range batch {
		items[i] = obj.DeepCopyObject()
		if w.contentType == runtime.ContentTypeJSON && fill.rand.Intn(2) == 0 {
			items[i].GetObjectKind().SetGroupVersionKind(w.gvk)
		}
	}
	if err := meta.SetList(list, items); err != nil {
		t.Fatal(err)
	}
	data, err := runtime.Encode(w.encoder, list)
	if err != nil {
		t.Fatal(err)
	}
	want, err := kinds.New(listOf(w.gvk))
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := w.theirs.Decode(data, nil, want); err != nil {
		t.Fatal(err)
	}
	w.compareList(t, fill, data, want)
	if w.contentType == runtime.ContentTypeJSON {
		plain := reflect.New(reflect.TypeOf(want).Elem()).Interface().(runtime.Object)
		if err := kjson.Unmarshal(data, plain); err != nil {
			t.Fatal(err)
		}
		w.compareList(t, fill, data, plain)
	}
}

func (w *wire) compareList(t *testing.T, fill objects, data []byte, want runtime.Object) {
	wantItems, err := meta.ExtractListWithAlloc(want)
	if err != nil {
		t.Fatal(err)
	}
	wantMeta := reflect.ValueOf(want).Elem().FieldByName("ListMeta").Interface()
	for _, d := range w.ours {
		var items []runtime.Object
		var typ metav1.TypeMeta
		read := d.List
		if w.contentType == runtime.ContentTypeProtobuf {
			read = d.ListProtobuf
		}
		listMeta, err := read(fill.reads(data), ListVisitor{
			Type: func(is metav1.TypeMeta) error { typ = is; return nil },
			Item: func(item any) error { items = append(items, item.(runtime.Object)); return nil },
		})
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(any(listMeta), wantMeta) || len(items) != len(wantItems) ||
			typ.GroupVersionKind() != listOf(w.gvk) {
			t.Fatalf("%v, %d items, %v; expected %v and %d", typ, len(items), listMeta, wantMeta,
				len(wantItems))
		}
		for i := range items {
			if !reflect.DeepEqual(items[i], wantItems[i]) {
				t.Fatalf("item %d: %s", i, difference(items[i], wantItems[i]))
			}
		}
	}
}

var eventTypes = []watch.EventType{watch.Added, watch.Modified, watch.Deleted, watch.Bookmark}

// watch compares events with those that client-go's decoder returns.
func (w *wire) watch(t *testing.T, fill objects, batch []runtime.Object) {
	var body bytes.Buffer
	encoder := eventEncoder(&body, w.info, w.encoder)
	for _, obj := range batch {
		event := watch.Event{Type: eventTypes[fill.rand.Intn(len(eventTypes))], Object: obj}
		if err := encoder.Encode(&event); err != nil {
			t.Fatal(err)
		}
	}
	for _, d := range w.ours {
		theirs := eventDecoder(body.Bytes(), w.info, w.theirs)
		ours := d.Events(fill.reads(body.Bytes()))
		if w.contentType == runtime.ContentTypeProtobuf {
			ours = d.EventsProtobuf(fill.reads(body.Bytes()))
		}
		for i := range batch {
			wantType, want, err := theirs.Decode()
			if err != nil {
				t.Fatal(err)
			}
			got, err := ours.Next()
			if err != nil {
				t.Fatal(err)
			}
			// client-go clears the kind; here the caller does, if it needs to.
			kind := got.Object.(runtime.Object).GetObjectKind()
			if kind.GroupVersionKind() != w.gvk {
				t.Fatalf("event %d is of %v", i, kind)
			}
			kind.SetGroupVersionKind(schema.GroupVersionKind{})
			if got.Type != wantType || !reflect.DeepEqual(got.Object, want) {
				t.Fatalf("event %d: %v, expected %v; %s", i, got.Type, wantType, difference(got.Object, want))
			}
		}
		if _, err := ours.Next(); err != io.EOF {
			t.Fatal(err)
		}
	}
}

// decoderOf returns a decoder for a type that is known only at run time.
func decoderOf(typ reflect.Type, opts Options) *Decoder {
	return New(reflect.PointerTo(typ), opts)
}
