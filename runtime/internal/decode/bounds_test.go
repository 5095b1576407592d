package decode

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// maxTested is Options.MaxObject in tests of it.
const maxTested = 1 << 20

// endlessly repeats text.
type endlessly string

func (e endlessly) Read(p []byte) (int, error) {
	n := 0
	for n+len(e) <= len(p) {
		n += copy(p[n:], e)
	}
	if n == 0 {
		n = copy(p, e)
	}
	return n, nil
}

// after returns text that goes on endlessly.
func after(text, repeated string) io.Reader {
	return io.MultiReader(strings.NewReader(text), endlessly(repeated))
}

// readBounded reads a list of objects of a type, in JSON.
func readBounded(t reflect.Type, from io.Reader) error {
	_, err := New(t, Options{MaxObject: maxTested}).List(from, ListVisitor{Item: func(any) error { return nil }})
	return err
}

// TestEndlessJSON checks that endless values in a list or a watch are refused, wherever they are, and that
// the bytes before the error aren't kept.
func TestEndlessJSON(t *testing.T) {
	pods, untyped := reflect.TypeFor[*corev1.Pod](), reflect.TypeFor[*unstructured.Unstructured]()
	for name, of := range map[string]struct{ start, more string }{
		"a string":                  {`{"items":[{"metadata":{"name":"`, "x"},
		"a string with escapes":     {`{"items":[{"metadata":{"name":"`, `\"`},
		"the name of a field":       {`{"items":[{"`, "x"},
		"a number":                  {`{"items":[{"spec":{"priority":`, "1"},
		"a number in the middle":    {`{"items":[{"spec":{"priority":1.`, "0"},
		"keys":                      {`{"items":[{"metadata":{"labels":{`, `"a":"",`},
		"items in an item":          {`{"items":[{"spec":{"containers":[`, `{},`},
		"strings in an item":        {`{"items":[{"metadata":{"finalizers":[`, `"",`},
		"depth":                     {`{"items":[{"a":`, "["},
		"deep objects":              {`{"items":[`, `{"a":`},
		"an unknown member of it":   {`{"a":[`, "1,"},
		"the name of a member":      {`{"`, "x"},
		"the kind":                  {`{"kind":"`, "x"},
		"the metadata":              {`{"metadata":{"continue":"`, "x"},
		"the metadata's unknowns":   {`{"metadata":{`, `"a":{},`},
		"an unknown field's string": {`{"items":[{"a":"`, "x"},
	} {
		for _, typ := range []reflect.Type{pods, untyped} {
			t.Run(name+" in "+typ.String(), func(t *testing.T) {
				err := readBounded(typ, after(of.start, of.more))
				if !errors.Is(err, ErrTooLarge) && !errors.Is(err, ErrTooDeep) {
					t.Error(err)
				}
				const item = `{"items":[`
				rest, isItem := strings.CutPrefix(of.start, item)
				if !isItem {
					return
				}
				events := New(typ, Options{MaxObject: maxTested}).Events(
					after(`{"type":"ADDED","object":`+rest, of.more))
				if _, err := events.Next(); !errors.Is(err, ErrTooLarge) && !errors.Is(err, ErrTooDeep) {
					t.Error(err)
				}
			})
		}
	}
	events := New(pods, Options{MaxObject: maxTested}).Events(after(`{"type":"`, "x"))
	if _, err := events.Next(); !errors.Is(err, ErrTooLarge) {
		t.Errorf("the type of an event: %v", err)
	}
}

// TestLargeObjects checks that an object that is just small enough is read, in a list of any length.
func TestLargeObjects(t *testing.T) {
	const objects = 5
	large := strings.Repeat("x", maxTested-1<<10)
	items := strings.Repeat(`{"kind":"a","metadata":{"name":"`+large+`"}},`, objects)
	list := `{"kind":"List","apiVersion":"v1","items":[` + strings.TrimSuffix(items, ",") + "]}"
	for _, typ := range []reflect.Type{
		reflect.TypeFor[*corev1.Pod](), reflect.TypeFor[*unstructured.Unstructured](),
	} {
		read := 0
		_, err := New(typ, Options{MaxObject: maxTested}).List(strings.NewReader(list),
			ListVisitor{Item: func(obj any) error {
				if n := len(obj.(metav1.Object).GetName()); n != len(large) {
					t.Errorf("a name of %d bytes", n)
				}
				read++
				return nil
			}})
		if err != nil || read != objects {
			t.Errorf("%d objects, %v", read, err)
		}
	}
	d := New(reflect.TypeFor[*corev1.Pod](), Options{MaxObject: maxTested})
	events := d.EventsProtobuf(bytes.NewReader(framed(addedPod(bytesField(1, bytesField(1, []byte(large)))))))
	if e, err := events.Next(); err != nil || e.Object.(*corev1.Pod).Name != large {
		t.Error(err)
	}
	// The default is enough for anything that a server keeps.
	if d := New(reflect.TypeFor[*corev1.Pod](), Options{}); d.maxObject < 64<<20 {
		t.Errorf("a default of %d bytes", d.maxObject)
	}
}

// TestLargeMemory checks that an object is refused if its text is small but its values are large: a few bytes
// can stand for a large struct.
func TestLargeMemory(t *testing.T) {
	array := func(element string) string {
		n := maxTested / 2 / (len(element) + 1)
		return "[" + strings.TrimSuffix(strings.Repeat(element+",", n), ",") + "]"
	}
	pods, untyped := reflect.TypeFor[*corev1.Pod](), reflect.TypeFor[*unstructured.Unstructured]()
	for name, of := range map[string]struct {
		typ  reflect.Type
		text string
	}{
		"structs":         {pods, `{"spec":{"containers":` + array("{}") + `}}`},
		"nulls":           {pods, `{"spec":{"containers":` + array("null") + `}}`},
		"inner structs":   {pods, `{"spec":{"containers":[{"env":` + array("{}") + `}]}}`},
		"pointers":        {pods, `{"spec":{"containers":` + array(`{"lifecycle":{"preStop":{"exec":{}}}}`) + `}}`},
		"strings":         {pods, `{"metadata":{"finalizers":` + array(`""`) + `}}`},
		"maps":            {untyped, `{"a":` + array("{}") + `}`},
		"arrays":          {untyped, `{"a":` + array("[]") + `}`},
		"arrays in those": {untyped, `{"a":` + array("[[[]]]") + `}`},
		"booleans":        {untyped, `{"a":` + array("true") + `}`},
	} {
		t.Run(name, func(t *testing.T) {
			err := readBounded(of.typ, strings.NewReader(`{"kind":"List","apiVersion":"v1","items":[`+of.text+`]}`))
			var at *Error
			if !errors.Is(err, ErrTooLarge) || !errors.As(err, &at) || at.Path == "" {
				t.Error(err)
			}
		})
	}
	container := bytesField(2)
	env := bytesField(7)
	for name, spec := range map[string][]byte{
		"structs":       bytes.Repeat(container, maxTested/2/len(container)),
		"inner structs": bytesField(2, bytes.Repeat(env, maxTested/2/len(env))),
		"mixed": bytes.Repeat(append(bytes.Clone(container), bytesField(20)...),
			maxTested/2/(2*len(container)+1)),
	} {
		t.Run(name+" in protobuf", func(t *testing.T) {
			pod := bytesField(2, spec)
			d := New(reflect.TypeFor[*corev1.Pod](), Options{MaxObject: maxTested})
			list := append(bytes.Clone(prefix), bytesField(unknownRaw, bytesField(listItems, pod))...)
			_, err := d.ListProtobuf(bytes.NewReader(list), ListVisitor{Item: func(any) error { return nil }})
			if !errors.Is(err, ErrTooLarge) {
				t.Error(err)
			}
			_, err = d.EventsProtobuf(bytes.NewReader(framed(addedPod(pod)))).Next()
			if !errors.Is(err, ErrTooLarge) {
				t.Error(err)
			}
		})
	}
}

// TestMemoryIsReleased checks that a decoder keeps no memory of a large object.
func TestMemoryIsReleased(t *testing.T) {
	const entries = 2 * largestStack
	var labels, finalizers strings.Builder
	for i := range entries {
		fmt.Fprintf(&labels, `"%d":"",`, i)
		fmt.Fprintf(&finalizers, `"%d",`, i)
	}
	d := New(reflect.TypeFor[*corev1.Pod](), Options{})
	items := 0
	list := `{"items":[{"metadata":{"labels":{` + strings.TrimSuffix(labels.String(), ",") +
		`},"finalizers":[` + strings.TrimSuffix(finalizers.String(), ",") + `],"name":"\n` +
		strings.Repeat("x", 2*largeWindow) + `"}}]}`
	_, err := d.List(strings.NewReader(list), ListVisitor{Item: func(obj any) error {
		if pod := obj.(*corev1.Pod); len(pod.Labels) == entries && len(pod.Finalizers) == entries {
			items++
		}
		return nil
	}})
	if err != nil || items != 1 {
		t.Fatalf("%d items, %v", items, err)
	}
	if n := cap(d.json.pairs); n > largestStack {
		t.Errorf("the decoder keeps %d strings", n)
	}
	if n := cap(d.json.unquoted); n > largeWindow {
		t.Errorf("the decoder keeps %d bytes", n)
	}
}

// TestAnnounced checks that a message or a frame whose length is too large is refused at once, without
// waiting for its content.
func TestAnnounced(t *testing.T) {
	d := New(reflect.TypeFor[*corev1.Pod](), Options{MaxObject: maxTested})
	const largest = 1<<31 - 1
	for name, field := range map[string]byte{
		"an item": listItems, "the metadata": listMetadata, "an unknown field": 9,
	} {
		list := binary.AppendUvarint(append(bytes.Clone(prefix), unknownRaw<<3|wireBytes), largest)
		list = binary.AppendUvarint(append(list, field<<3|wireBytes), largest-64)
		from := &counting{from: after(string(list), "\x00")}
		_, err := d.ListProtobuf(from, ListVisitor{Item: func(any) error { return nil }})
		if !errors.Is(err, ErrTooLarge) || from.n > 2*largeWindow {
			t.Errorf("%s: %v after %d bytes", name, err, from.n)
		}
	}
	for _, size := range []uint32{maxTested, largest, 1<<32 - 1} {
		from := &counting{from: after(string(binary.BigEndian.AppendUint32(nil, size)), "\x00")}
		if _, err := d.EventsProtobuf(from).Next(); !errors.Is(err, ErrTooLarge) || from.n > 2*largeWindow {
			t.Errorf("a frame of %d: %v after %d bytes", size, err, from.n)
		}
	}
	// A length without its content takes no memory.
	list := binary.AppendUvarint(append(bytes.Clone(prefix), unknownRaw<<3|wireBytes), maxTested/2)
	list = binary.AppendUvarint(append(list, listItems<<3|wireBytes), maxTested/4)
	if _, err := d.ListProtobuf(bytes.NewReader(list), ListVisitor{}); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Error(err)
	}
}

// counting counts what is read.
type counting struct {
	from io.Reader
	n    int
}

func (c *counting) Read(p []byte) (int, error) {
	n, err := c.from.Read(p)
	c.n += n
	return n, err
}

// TestLongNumbers checks numbers of a million digits: a number that fits is read, and the error for one that
// doesn't fit doesn't quote it.
func TestLongNumbers(t *testing.T) {
	digits := strings.Repeat("7", 1_000_000)
	for text, want := range map[string]bool{
		"0." + digits:  true,
		"-0." + digits: true,
		digits:         false,
		"-" + digits:   false,
		"1e" + digits:  false,
		"1e-" + digits: true, // zero
	} {
		_, err := New(reflect.TypeFor[*unstructured.Unstructured](), Options{}).List(
			strings.NewReader(`{"kind":"List","apiVersion":"v1","items":[{"a":`+text+`}]}`),
			ListVisitor{Item: func(any) error { return nil }})
		if (err == nil) != want {
			t.Errorf("%.5s...: %v", text, err)
		}
		for _, field := range []string{`"spec":{"priority":`, `"metadata":{"generation":`,
			`"spec":{"containers":[{"ports":[{"hostPort":`} {
			err := readBounded(reflect.TypeFor[*corev1.Pod](), strings.NewReader(`{"items":[{`+field+text))
			if err == nil || len(err.Error()) > 500 || errors.Is(err, ErrTooLarge) {
				t.Errorf("%s%.5s...: an error of %d characters", field, text, len(fmt.Sprint(err)))
			}
		}
	}
}

// recursive is a message that is nested as deep as its text.
type recursive struct{ inner *recursive }

func (r *recursive) Unmarshal(text []byte) error {
	if len(text) == 0 {
		return nil
	}
	if text[0] != 1<<3|wireBytes {
		return errBadVarint
	}
	value, _, ok := cutBytes(text[1:])
	if !ok {
		return errBadLength
	}
	r.inner = &recursive{}
	return r.inner.Unmarshal(value)
}

// TestTooDeep checks that deep values are refused as by client-go's decoder, before a stack overflow ends the
// program.
func TestTooDeep(t *testing.T) {
	nested := func(depth int) []byte {
		// From the inside, written backwards: each message has a length in front.
		var backwards []byte
		for range depth {
			head := binary.AppendUvarint([]byte{1<<3 | wireBytes}, uint64(len(backwards)))
			for i := len(head) - 1; i >= 0; i-- {
				backwards = append(backwards, head[i])
			}
		}
		for i, j := 0, len(backwards)-1; i < j; i, j = i+1, j-1 {
			backwards[i], backwards[j] = backwards[j], backwards[i]
		}
		return backwards
	}
	d := New(reflect.TypeFor[*recursive](), Options{})
	if _, err := d.fromProtobuf(nested(maxDepth), nil); err != nil {
		t.Errorf("%d messages: %v", maxDepth, err)
	}
	for _, prefix := range [][]byte{nil, {9<<3 | wireGroup}, {9 << 3, 1}, {9<<3 | wire32, 0, 0, 0, 0}} {
		if _, err := d.fromProtobuf(append(prefix, nested(1<<20)...), nil); !errors.Is(err, ErrTooDeep) {
			t.Errorf("after %x: %v", prefix, err)
		}
	}
	object := func(depth int) io.Reader {
		return strings.NewReader(`{"kind":"List","apiVersion":"v1","items":[` +
			strings.Repeat(`{"a":`, depth) + "1" + strings.Repeat("}", depth) + "]}")
	}
	for _, typ := range []reflect.Type{
		reflect.TypeFor[*corev1.Pod](), reflect.TypeFor[*unstructured.Unstructured](),
	} {
		if err := readBounded(typ, object(5000)); err != nil {
			t.Errorf("5,000 objects: %v", err)
		}
		if err := readBounded(typ, object(maxDepth+1)); !errors.Is(err, ErrTooDeep) || len(err.Error()) > 2000 {
			t.Errorf("%d objects: %.2000v", maxDepth+1, err)
		}
	}
}

// TestErrorsQuoteNothing checks that no error quotes a value of the object, whatever is wrong with it.
func TestErrorsQuoteNothing(t *testing.T) {
	const secret = "7391046285"
	for _, object := range []string{
		`{"metadata":{"creationTimestamp":"` + secret + `"}}`,
		`{"metadata":{"managedFields":[{"time":"` + secret + `"}]}}`,
		`{"metadata":{"generation":"` + secret + `"}}`,
		`{"metadata":{"generation":` + secret + secret + `}}`,
		`{"metadata":{"generation":1e` + secret + `}}`,
		`{"metadata":{"name":` + secret + `}}`,
		`{"metadata":{"labels":"` + secret + `"}}`,
		`{"metadata":{"labels":{"a":` + secret + `}}}`,
		`{"metadata":{"labels":{"a":["` + secret + `"]}}}`,
		`{"metadata":{"annotations":{"a":"\` + secret + `"}}}`,
		`{"metadata":{"annotations":{"a":"` + secret + "\x01" + `"}}}`,
		`{"data":{"a":"` + secret + `!"}}`,
		`{"data":{"a":` + secret + `}}`,
		`{"data":{"a":["` + secret + `"]}}`,
		`{"data":{"a":[` + secret + `]}}`,
		`{"data":{"a":"` + secret + `"`,
		`{"immutable":"` + secret + `"}`,
		`{"immutable":t` + secret + `}`,
		`{"` + secret + `"}`,
		`{"type":` + secret + `}`,
	} {
		for _, opts := range []Options{{}, {ShareValues: true}, {Drop: []string{"metadata.managedFields"}}} {
			_, err := New(reflect.TypeFor[*corev1.Secret](), opts).List(strings.NewReader(`{"items":[`+object+`]}`),
				ListVisitor{Item: func(any) error { return nil }})
			if err != nil && strings.Contains(err.Error(), secret) {
				t.Errorf("%s: %v", object, err)
			}
			_, err = New(reflect.TypeFor[*corev1.Secret](), opts).Events(
				strings.NewReader(`{"type":"` + secret + `","object":` + object + `}`)).Next()
			if err == nil || strings.Contains(err.Error(), secret) {
				t.Errorf("an event with %s: %v", object, err)
			}
		}
		_, err := New(reflect.TypeFor[*unstructured.Unstructured](), Options{}).Events(
			strings.NewReader(`{"type":"ADDED","object":` + object + `}`)).Next()
		if err == nil || strings.Contains(err.Error(), secret) {
			t.Errorf("unstructured %s: %v", object, err)
		}
	}
}

// TestErrorPathsAreShort checks that names in the paths of errors, which may contain anything, are quoted and
// cut off.
func TestErrorPathsAreShort(t *testing.T) {
	for _, name := range []string{strings.Repeat("x", 1000), "a\nb", "\x1b[31m", "\u202e"} {
		quoted := strings.ReplaceAll(strings.ReplaceAll(name, "\n", `\n`), "\x1b", `\u001b`)
		for _, typ := range []reflect.Type{
			reflect.TypeFor[*corev1.Pod](), reflect.TypeFor[*unstructured.Unstructured](),
		} {
			err := readBounded(typ, strings.NewReader(
				`{"kind":"a","apiVersion":"v1","items":[{"metadata":{"labels":{"`+quoted+`":1e999}}}]}`))
			if err == nil || len(err.Error()) > 300 || strings.ContainsAny(err.Error(), "\n\x1b\u202e") {
				t.Errorf("%q", err)
			}
		}
	}
}
