package decode

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"
	"unsafe"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kjson "k8s.io/apimachinery/pkg/util/json"
)

type deploymentDecoder = Decoder[*appsv1.Deployment]

// whole are deployments as Kubernetes' decoder has them.
func whole(t *testing.T, objects [][]byte) []*appsv1.Deployment {
	t.Helper()
	var all []*appsv1.Deployment
	for _, data := range objects {
		obj := &appsv1.Deployment{}
		if err := kjson.Unmarshal(data, obj); err != nil {
			t.Fatal(err)
		}
		all = append(all, obj)
	}
	return all
}

func listAll(d *deploymentDecoder, from io.Reader) (items []*appsv1.Deployment, meta metav1.ListMeta, err error) {
	meta, err = d.List(from, ListVisitor[*appsv1.Deployment]{Item: func(o *appsv1.Deployment) error {
		items = append(items, o)
		return nil
	}})
	return items, meta, err
}

// chunks reads in pieces of random sizes.
type chunks struct {
	from io.Reader
	rand *rand.Rand
	most int
}

func (c chunks) Read(p []byte) (int, error) {
	return c.from.Read(p[:min(len(p), 1+c.rand.Intn(c.most))])
}

// However a stream is cut into reads, what it gives is the same.
func TestChunks(t *testing.T) {
	objects, list := deployments(30)
	want := whole(t, objects)
	var events bytes.Buffer
	for _, o := range objects {
		fmt.Fprintf(&events, `{"type":"ADDED","object":%s}`+"\n", o)
	}
	for seed, most := range []int{1, 7, 100, 3000, 100_000} {
		d := New[*appsv1.Deployment](Options{})
		read := func(data []byte) io.Reader {
			return chunks{bytes.NewReader(data), rand.New(rand.NewSource(int64(seed))), most}
		}
		got, meta, err := listAll(d, read(list))
		if err != nil || !reflect.DeepEqual(got, want) || meta.ResourceVersion != "1000" {
			t.Fatalf("reads of at most %d: %d items, %v, %v", most, len(got), meta, err)
		}
		got = nil
		for stream := d.Events(read(events.Bytes())); ; {
			e, err := stream.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, e.Object)
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("reads of at most %d: events differ", most)
		}
	}
}

// An item larger than any window arrives, and the window shrinks again.
func TestLargeItem(t *testing.T) {
	big := strings.Repeat("x", 3*largeWindow)
	list := `{"items":[{"metadata":{"name":"` + big + `"}},{"metadata":{"name":"small"}}]}`
	items, _, err := listAll(New[*appsv1.Deployment](Options{}), iotest.HalfReader(strings.NewReader(list)))
	if err != nil || len(items) != 2 || items[0].Name != big || items[1].Name != "small" {
		t.Fatalf("%d items, %v", len(items), err)
	}
	in := newInput(iotest.OneByteReader(strings.NewReader(strings.Repeat(" ", 100))))
	in.data, in.lastRead = make([]byte, largeWindow+padding), 1
	in.fill()
	if len(in.data) != smallWindow+padding {
		t.Errorf("a window of %d", len(in.data))
	}
}

// An event larger than client-go takes is refused.
func TestTooLargeEvent(t *testing.T) {
	stream := New[*appsv1.Deployment](Options{}).Events(io.MultiReader(
		strings.NewReader(`{"type":"ADDED","object":{"metadata":{"name":"`), bytes.NewReader(bytes.Repeat([]byte("x"), maxEvent+1)), strings.NewReader(`"}}}`)))
	if _, err := stream.Next(); err != errTooLarge {
		t.Error(err)
	}
}

// Wherever a list breaks off, only whole items were handed over, and the error
// says where it is.
func TestTruncated(t *testing.T) {
	objects, list := deployments(3)
	want := whole(t, objects)
	d := New[*appsv1.Deployment](Options{})
	for n := range len(list) - 2 { // Behind it are the bracket and the new line.
		got, _, err := listAll(d, bytes.NewReader(list[:n]))
		if err == nil || !reflect.DeepEqual(got, want[:len(got)]) && len(got) > 0 {
			t.Fatalf("cut at %d: %d items, %v", n, len(got), err)
		}
		var at *Error
		if !errors.As(err, &at) || !errors.Is(err, io.ErrUnexpectedEOF) || at.Item != len(got) || at.Offset > int64(n) {
			t.Fatalf("cut at %d: %v", n, err)
		}
	}
}

// What breaks reading is returned as it is.
func TestReadError(t *testing.T) {
	_, list := deployments(3)
	broken := errors.New("broken")
	for _, n := range []int{0, 1, 50, len(list) / 2, len(list) - 3} {
		from := io.MultiReader(bytes.NewReader(list[:n]), iotest.ErrReader(broken))
		if _, _, err := listAll(New[*appsv1.Deployment](Options{}), from); err != broken {
			t.Errorf("after %d: %v", n, err)
		}
	}
}

// Errors lead to the value.
func TestErrorPath(t *testing.T) {
	for list, want := range map[string]Error{
		`{"items":[{},{"spec":{"template":{"spec":{"containers":[{},{"name":7}]}}}}]}`: {Item: 1, Path: "spec.template.spec.containers[1].name"},
		`{"items":[{"metadata":{"labels":{"a":1}}}]}`:                                  {Item: 0, Path: `metadata.labels["a"]`},
		`{"items":[{},{},{]]}`: {Item: 2},
	} {
		_, _, err := listAll(New[*appsv1.Deployment](Options{}), strings.NewReader(list))
		var at *Error
		if !errors.As(err, &at) || at.Item != want.Item || at.Path != want.Path {
			t.Errorf("%s: %v", list, err)
		}
	}
}

func TestItemsTwice(t *testing.T) {
	if _, _, err := listAll(New[*appsv1.Deployment](Options{}), strings.NewReader(`{"items":[{}],"items":[{}]}`)); !errors.Is(err, errItemsTwice) {
		t.Error(err)
	}
}

// Dropped fields stay empty, everything else is as it would be.
func TestDrop(t *testing.T) {
	objects, list := deployments(5)
	want := whole(t, objects)
	for _, w := range want {
		w.ManagedFields = nil
		w.Spec.Template.Spec.Containers[0].Env = nil
		w.Status = appsv1.DeploymentStatus{}
	}
	opts := Options{Drop: []string{"metadata.managedFields", "spec.template.spec.containers.env", "status", "nothing.there"}}
	got, _, err := listAll(New[*appsv1.Deployment](opts), bytes.NewReader(list))
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v, %v", got, err)
	}
	for i, w := range whole(t, objects) {
		want[i] = &appsv1.Deployment{TypeMeta: w.TypeMeta, ObjectMeta: w.ObjectMeta}
	}
	got, _, err = listAll(New[*appsv1.Deployment](Options{MetadataOnly: true}), bytes.NewReader(list))
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v, %v", got, err)
	}
}

// Shared values are equal to what would be decoded, over many objects.
func TestShareValues(t *testing.T) {
	objects, list := deployments(300)
	got, _, err := listAll(New[*appsv1.Deployment](Options{ShareValues: true}), bytes.NewReader(list))
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
	got, _, err := listAll(New[*appsv1.Deployment](Options{}), bytes.NewReader(list))
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
	var strs table
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
	var strs table
	copies := map[*byte]bool{}
	for i := range 20_000 {
		for j := range 4 {
			content := fmt.Appendf(nil, "a prefix of more than sixteen bytes, %d, and an end as long", (4*i+j)%2000)
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

// One decoder may serve several streams at once.
func TestConcurrent(t *testing.T) {
	objects, list := deployments(20)
	want := whole(t, objects)
	d := New[*appsv1.Deployment](Options{ShareValues: true})
	done := make(chan error)
	for range 4 {
		go func() {
			got, _, err := listAll(d, iotest.HalfReader(bytes.NewReader(list)))
			if err == nil && !reflect.DeepEqual(got, want) {
				err = errors.New("different objects")
			}
			done <- err
		}()
	}
	for range 4 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}
