package decode

import (
	"bytes"
	"fmt"
	"io"
	"math/rand"
	"reflect"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
)

// dropManaged drops what has the times.
var dropManaged = []string{"metadata.managedFields"}

// timesOptions are those with which times are read: with managedFields, and without.
var timesOptions = []Options{
	{}, {Drop: dropManaged}, {Drop: dropManaged, MetadataOnly: true}, {Drop: dropManaged, ShareValues: true},
	{Drop: []string{"metadata.managedFields.fieldsV1", "spec.template.metadata.managedFields"}},
}

// randomEntries returns managedFields, some without times, some with names of other times in their sets, and
// the newest time.
func randomEntries(r *rand.Rand) (entries []metav1.ManagedFieldsEntry, newest int64) {
	for range r.Intn(5) {
		e := metav1.ManagedFieldsEntry{Manager: "m", Operation: metav1.ManagedFieldsOperationApply,
			FieldsType: "FieldsV1", Subresource: []string{"", "status"}[r.Intn(2)]}
		if r.Intn(4) > 0 {
			e.Time = new(metav1.Unix(r.Int63n(6e9)-1e9, 0)) // from 1938 to 2128
			newest = max(newest, e.Time.Unix())
		}
		if r.Intn(4) > 0 {
			e.FieldsV1 = metav1.NewFieldsV1(`{"time":"2200-01-01T00:00:00Z","f:a":{"time":{}}}`)
		}
		entries = append(entries, e)
	}
	return entries, newest
}

// TestTimesOfKinds checks that the newest time of random objects of every kind is read, in both encodings,
// with managedFields and without, of added and modified objects, and that nothing else is changed by that.
func TestTimesOfKinds(t *testing.T) {
	fill, events := newObjects(9), perList
	if testing.Short() {
		events = len(eventTypes)
	}
	for name, contentType := range map[string]string{
		"json": runtime.ContentTypeJSON, "protobuf": runtime.ContentTypeProtobuf,
	} {
		t.Run(name, func(t *testing.T) {
			eachKind(t, contentType, 145, func(t *testing.T, gvk schema.GroupVersionKind, typ reflect.Type) {
				w := newWire(gvk, typ, contentType)
				var body bytes.Buffer
				encoder := eventEncoder(&body, w.info, w.encoder)
				var want []int64
				for i := range events {
					one, _ := fill.one(t, typ)
					obj := one.(runtime.Object)
					m, err := meta.Accessor(obj)
					if err != nil {
						return // It is no object of the API, like a Status.
					}
					entries, newest := randomEntries(fill.rand)
					m.SetManagedFields(entries)
					if d, ok := obj.(*appsv1.Deployment); ok {
						d.Spec.Template.ManagedFields, _ = randomEntries(fill.rand)
					}
					if i%len(eventTypes) > 1 {
						newest = 0 // deleted, or a bookmark
					}
					want = append(want, newest)
					e := &watch.Event{Type: eventTypes[i%len(eventTypes)], Object: obj}
					if err := encoder.Encode(e); err != nil {
						t.Fatal(err)
					}
				}
				for _, opts := range timesOptions {
					got := sameEvents(t, reflect.PointerTo(typ), opts, contentType,
						func() io.Reader { return fill.reads(body.Bytes()) })
					if !reflect.DeepEqual(got, want) {
						t.Fatalf("%v: %v, want %v", opts, got, want)
					}
				}
			})
		})
	}
}

// sameEvents reads a watch with its times and without, checks that there is no other difference, and returns
// the times.
func sameEvents(
	t *testing.T, typ reflect.Type, opts Options, contentType string, from func() io.Reader,
) (times []int64) {
	t.Helper()
	events := (*Decoder).Events
	if contentType == runtime.ContentTypeProtobuf {
		events = (*Decoder).EventsProtobuf
	}
	plain, timed := events(New(typ, opts), from()), events(New(typ, opts), from())
	timed.ReadTimes(true)
	for n := 0; ; n++ {
		want, wantErr := plain.Next()
		got, err := timed.Next()
		if want.Written != 0 {
			t.Fatalf("event %d: a time that nobody asked for", n)
		}
		if opts.ShareValues && err != nil && wantErr != nil {
			return times // Values that are looked up are read to their end before an error in them is found.
		}
		if fmt.Sprint(err) != fmt.Sprint(wantErr) {
			t.Fatalf("event %d: %v, without times %v", n, err, wantErr)
		}
		if err != nil {
			return times
		}
		times = append(times, got.Written)
		if got.Written = 0; !reflect.DeepEqual(got, want) {
			t.Fatalf("event %d: %+v, without times %+v", n, got, want)
		}
	}
}

// TestTimesByMethod checks that times are read where a type's own method decodes the message.
func TestTimesByMethod(t *testing.T) {
	pod := seedPods().Items[0]
	pod.ManagedFields[0].Time = new(metav1.Unix(1e9, 0))
	text, err := pod.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	for _, opts := range timesOptions {
		var n newest
		d := New(reflect.TypeFor[*corev1.Pod](), opts)
		if _, err := d.fromProtobuf(append(text[:len(text):len(text)], irregular...), &n); err != nil {
			t.Fatal(err)
		}
		if n != 1e9 {
			t.Errorf("%v: %d", opts, n)
		}
	}
}

// TestTimesInText checks what counts as a time in JSON, and that decoding ignores the rest.
func TestTimesInText(t *testing.T) {
	const day = 86400
	for text, want := range map[string]int64{
		`[]`: 0, `null`: 0, `{}`: 0, `7`: 0, `[null,7,"1970-01-02T00:00:00Z",[{"time":"1970-01-02T00:00:00Z"}]]`: 0,
		`{"time":"1970-01-02T00:00:00Z"}`: 0, `[{"time":7}]`: 0, `[{"time":{"time":"1970-01-02T00:00:00Z"}}]`: 0,
		`[{"time":null},{"time":"1970-01-02T00:00:00Z"}]`:                              day,
		`[{"fieldsV1":{"time":"1970-01-03T00:00:00Z"},"time":"1970-01-02T00:00:00Z"}]`: day,
		`[{"time":"1970-01-02T00:00:00Z","time":"1970-01-03T00:00:00Z"}]`:              2 * day,
		`[ { "time" : "1970-01-02T00:00:00Z" } , {} ]`:                                 day,
		`[{"t\u0069me":"1970-01-02T00:00:0\u0030Z"}]`:                                  day,
		`[{"Time":"1970-01-02T00:00:00Z"}]`:                                            0,
		`[{"time":"1970-01-02T02:00:00+02:00"}]`:                                       day,
		`[{"time":"1970-01-02T00:00:00.9Z"},{"time":"1970-01-01T00:00:00Z"}]`:          day,
		`[{"time":"1969-12-31T23:59:59Z"}]`:                                            0,
		`[{"time":"1970-13-01T00:00:00Z"},{"time":"1970-02-00T00:00:00Z"}]`:            0,
		`[{"time":""}]`: 0,
		`[{"time":"yesterday"},{"time":"` + strings.Repeat("\xff", 20) + `"}]`:                          0,
		`[{"time":"9999-12-31T23:59:59Z"}]`:                                                             lastSecond,
		`[{"time":"1970-01-03T00:00:00Z"},{"time":"1970-01-02T00:00:00Z"}]`:                             2 * day,
		`[{"time":"1970-01-02T00:00:00Z"}],"managedFields":[{"time":"1970-01-03T00:00:00Z"}]`:           2 * day,
		`[{"time":"1970-01-02T00:00:00Z"}],"other":{"managedFields":[{"time":"2026-01-03T00:00:00Z"}]}`: day,
	} {
		for _, typ := range []reflect.Type{
			reflect.TypeFor[*corev1.Pod](), reflect.TypeFor[*metav1.PartialObjectMetadata](),
			reflect.TypeFor[*unstructured.Unstructured](),
		} {
			event := timedEvent(text)
			got := sameEvents(t, typ, Options{Drop: dropManaged}, runtime.ContentTypeJSON,
				func() io.Reader { return &steps{event, 7} })
			if len(got) != 2 || got[0] != want || got[1] != 0 {
				t.Errorf("%v of %s: %v, want %d", typ, text, got, want)
			}
		}
	}
}

// timedEvent returns two events, of objects with managedFields and without.
func timedEvent(text string) []byte {
	const begin = `{"type":"MODIFIED","object":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a"`
	return []byte(begin + `,"managedFields":` + text + `}}}` + begin + `}}}`)
}

// FuzzTimes and FuzzTimesProtobuf check that reading times changes nothing else, whatever the text.
func FuzzTimes(f *testing.F)         { fuzzTimes(f, runtime.ContentTypeJSON) }
func FuzzTimesProtobuf(f *testing.F) { fuzzTimes(f, runtime.ContentTypeProtobuf) }

func fuzzTimes(f *testing.F, contentType string) {
	f.Add(podBodies(f, contentType, 2).watch, byte(0))
	const entries = `[{"time":"2026-03-04T05:06:07Z","fieldsV1":{"time":1}},{"t\u0069me":""},{"time":1}]`
	f.Add(timedEvent(entries), byte(1))
	for _, doc := range hostile() {
		f.Add(timedEvent(doc), byte(0))
		f.Add(timedEvent("["+doc+`,{"time":`+doc+`,"a":`+doc+"}]"), byte(9))
	}
	for _, field := range hostileFields() {
		const metadata, entries = 1, 17
		for _, entry := range [][]byte{field, bytesField(4, field)} {
			f.Add(framed(addedPod(bytesField(metadata, append([]byte{0x8a, 0x01},
				bytesField(entries, entry)[1:]...)))), byte(0))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte, most byte) {
		for _, typ := range []reflect.Type{
			reflect.TypeFor[*corev1.Pod](), reflect.TypeFor[*unstructured.Unstructured](),
		} {
			if contentType == runtime.ContentTypeProtobuf && typ != reflect.TypeFor[*corev1.Pod]() {
				continue
			}
			for _, opts := range []Options{{Drop: dropManaged}, {Drop: dropManaged, ShareValues: true}} {
				sameEvents(t, typ, opts, contentType, func() io.Reader {
					if most == 0 {
						return bytes.NewReader(data)
					}
					return &steps{data, int(most)}
				})
			}
		}
	})
}

// BenchmarkTimes decodes a watch of 500 objects with two managers each, and reads the times of the last
// writes or doesn't.
func BenchmarkTimes(b *testing.B) {
	const n = 500
	_, _, custom := customResources(n)
	var deployments bytes.Buffer
	for i := range n {
		fmt.Fprintf(&deployments, `{"type":"MODIFIED","object":%s}`+"\n", deployment(i))
	}
	pods := podBodies(b, runtime.ContentTypeProtobuf, n)
	for _, test := range []struct {
		name   string
		typ    reflect.Type
		data   []byte
		events func(*Decoder, io.Reader) *Events
	}{
		{"json", reflect.TypeFor[*appsv1.Deployment](), deployments.Bytes(), (*Decoder).Events},
		{"metadata", reflect.TypeFor[*metav1.PartialObjectMetadata](), deployments.Bytes(), (*Decoder).Events},
		{"unstructured", reflect.TypeFor[*unstructured.Unstructured](), custom, (*Decoder).Events},
		{"protobuf", reflect.TypeFor[*corev1.Pod](), pods.watch, (*Decoder).EventsProtobuf},
	} {
		for form, opts := range map[string]Options{"dropped": {Drop: dropManaged}, "kept": {}} {
			for _, read := range []bool{false, true} {
				b.Run(fmt.Sprintf("%s/%s/read=%t", test.name, form, read), func(b *testing.B) {
					b.ReportAllocs()
					d := New(test.typ, opts)
					for b.Loop() {
						events := test.events(d, bytes.NewReader(test.data))
						events.ReadTimes(read)
						for {
							e, err := events.Next()
							if err == io.EOF {
								break
							}
							if err != nil || (e.Written != 0) != read {
								b.Fatal(err, e.Written)
							}
						}
					}
					b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/event")
				})
			}
		}
	}
}

// BenchmarkTimesAlone skips the managedFields of an object, of two managers, with and without their times.
// That is all that reading them adds to an event.
func BenchmarkTimesAlone(b *testing.B) {
	_, text, _ := bytes.Cut(deployment(1), []byte(`"managedFields":`))
	var entries [][]byte
	for _, e := range podBodies(b, runtime.ContentTypeProtobuf, 1).pods[0].ManagedFields {
		entry, err := e.Marshal()
		if err != nil {
			b.Fatal(err)
		}
		entries = append(entries, entry)
	}
	in := inputOf(text)
	for _, read := range []bool{false, true} {
		b.Run(fmt.Sprintf("json/read=%t", read), func(b *testing.B) {
			d := &New(reflect.TypeFor[*corev1.Pod](), Options{}).json
			var n newest
			for b.Loop() {
				d.resetTo(in)
				if read {
					n = 0
					d.times = &n
				}
				if !d.skipManagedFields() || read != (n != 0) {
					b.Fatal(d.err)
				}
			}
		})
	}
	b.Run("protobuf/read=true", func(b *testing.B) {
		for b.Loop() {
			var n newest
			for _, e := range entries {
				n.addEntry(e)
			}
			if n == 0 {
				b.Fatal("no time")
			}
		}
	})
}

// TestIsBeingDeleted checks objects of all forms, and one whose metadata nobody knows.
func TestIsBeingDeleted(t *testing.T) {
	now := metav1.Now()
	live, deleted := metav1.ObjectMeta{Name: "a"}, metav1.ObjectMeta{Name: "a", DeletionTimestamp: &now}
	untyped := func(text string) any {
		metadata := map[string]any{"deletionTimestamp": text}
		return &unstructured.Unstructured{Object: map[string]any{"metadata": metadata}}
	}
	type foreign struct{ metav1.TypeMeta }
	for i, test := range []struct {
		object         any
		deleted, known bool
	}{
		{&corev1.Pod{ObjectMeta: live}, false, true},
		{&corev1.Pod{ObjectMeta: deleted}, true, true},
		{&metav1.PartialObjectMetadata{ObjectMeta: live}, false, true},
		{&metav1.PartialObjectMetadata{ObjectMeta: deleted}, true, true},
		{&unstructured.Unstructured{Object: map[string]any{}}, false, true},
		{untyped("2026-01-02T03:04:05Z"), true, true},
		{&foreign{}, false, false},
	} {
		if deleted, known := IsBeingDeleted(test.object); deleted != test.deleted || known != test.known {
			t.Errorf("%d, %T: %v, %v, want %v, %v", i, test.object, deleted, known, test.deleted, test.known)
		}
	}
}
