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

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kjson "k8s.io/apimachinery/pkg/util/json"
)

// whole returns deployments as Kubernetes' decoder decodes them.
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

func listAll(d *Decoder, from io.Reader) (items []*appsv1.Deployment, meta metav1.ListMeta, err error) {
	meta, err = d.List(from, ListVisitor{Item: func(item any) error {
		o := item.(*appsv1.Deployment)
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

// TestChunks checks that the results don't depend on how a stream is cut into reads.
func TestChunks(t *testing.T) {
	objects, list := deployments(30)
	want := whole(t, objects)
	var events bytes.Buffer
	for _, o := range objects {
		fmt.Fprintf(&events, `{"type":"ADDED","object":%s}`+"\n", o)
	}
	for seed, most := range []int{1, 7, 100, 3000, 100_000} {
		d := New(reflect.TypeFor[*appsv1.Deployment](), Options{})
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
			got = append(got, e.Object.(*appsv1.Deployment))
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("reads of at most %d: events differ", most)
		}
	}
}

// TestLargeItem checks that an item larger than any window arrives, and that the window shrinks again.
func TestLargeItem(t *testing.T) {
	big := strings.Repeat("x", 3*largeWindow)
	list := `{"items":[{"metadata":{"name":"` + big + `"}},{"metadata":{"name":"small"}}]}`
	items, _, err := listAll(New(reflect.TypeFor[*appsv1.Deployment](), Options{}),
		iotest.HalfReader(strings.NewReader(list)))
	if err != nil || len(items) != 2 || items[0].Name != big || items[1].Name != "small" {
		t.Fatalf("%d items, %v", len(items), err)
	}
	in := newInput(iotest.OneByteReader(strings.NewReader(strings.Repeat(" ", 100))), 1<<20)
	in.data, in.lastRead = make([]byte, largeWindow+padding), 1
	in.fill()
	if len(in.data) != smallWindow+padding {
		t.Errorf("a window of %d", len(in.data))
	}
}

// TestTruncated checks that, wherever a list breaks off, only whole items were passed on, and that the error
// has the position.
func TestTruncated(t *testing.T) {
	objects, list := deployments(3)
	want := whole(t, objects)
	d := New(reflect.TypeFor[*appsv1.Deployment](), Options{})
	step := 1
	if testing.Short() {
		step = 7
	}
	for n := 0; n < len(list)-2; n += step { // the bracket and the new line follow
		got, _, err := listAll(d, bytes.NewReader(list[:n]))
		if err == nil || !reflect.DeepEqual(got, want[:len(got)]) && len(got) > 0 {
			t.Fatalf("cut at %d: %d items, %v", n, len(got), err)
		}
		var at *Error
		if !errors.As(err, &at) || !errors.Is(err, io.ErrUnexpectedEOF) || at.Item != len(got) ||
			at.Offset > int64(n) {
			t.Fatalf("cut at %d: %v", n, err)
		}
	}
}

// TestReadError checks that an error of the reader is returned unchanged.
func TestReadError(t *testing.T) {
	_, list := deployments(3)
	broken := errors.New("broken")
	for _, n := range []int{0, 1, 50, len(list) / 2, len(list) - 3} {
		from := io.MultiReader(bytes.NewReader(list[:n]), iotest.ErrReader(broken))
		if _, _, err := listAll(New(reflect.TypeFor[*appsv1.Deployment](), Options{}), from); err != broken {
			t.Errorf("after %d: %v", n, err)
		}
	}
}

// TestErrorPath checks that errors contain the path to the value.
func TestErrorPath(t *testing.T) {
	for list, want := range map[string]Error{
		`{"items":[{},{"spec":{"template":{"spec":{"containers":[{},{"name":7}]}}}}]}`: {Item: 1,
			Path: "spec.template.spec.containers[1].name"},
		`{"items":[{"metadata":{"labels":{"a":1}}}]}`: {Item: 0,
			Path: `metadata.labels["a"]`},
		`{"items":[{},{},{]]}`: {Item: 2},
	} {
		_, _, err := listAll(New(reflect.TypeFor[*appsv1.Deployment](), Options{}), strings.NewReader(list))
		var at *Error
		if !errors.As(err, &at) || at.Item != want.Item || at.Path != want.Path {
			t.Errorf("%s: %v", list, err)
		}
	}
}

func TestItemsTwice(t *testing.T) {
	if _, _, err := listAll(New(reflect.TypeFor[*appsv1.Deployment](), Options{}),
		strings.NewReader(`{"items":[{}],"items":[{}]}`)); !errors.Is(err, errItemsTwice) {
		t.Error(err)
	}
}

// TestConcurrent checks that one decoder can read several streams at once.
func TestConcurrent(t *testing.T) {
	objects, list := deployments(20)
	want := whole(t, objects)
	d := New(reflect.TypeFor[*appsv1.Deployment](), Options{ShareValues: true})
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
