package decode

import (
	"bytes"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	kjson "k8s.io/apimachinery/pkg/util/json"
)

// FuzzObject checks that both decoders return the same object, or both refuse.
func FuzzObject(f *testing.F) {
	objects, _ := deployments(2)
	for _, o := range objects {
		f.Add(o)
	}
	for _, doc := range documents {
		f.Add([]byte(`{"spec":` + doc + `,"Any":` + doc + `}`))
	}
	for _, doc := range hostile() {
		f.Add([]byte(`{"metadata":` + doc + `,"spec":` + doc + `,"Any":` + doc + `}`))
	}
	types := []reflect.Type{reflect.TypeFor[appsv1.Deployment](), reflect.TypeFor[corev1.Pod](),
		reflect.TypeFor[Kinds](), reflect.TypeFor[any]()}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, typ := range types {
			compare(t, New(reflect.TypeFor[*struct{}](), Options{}), typ, data)
			sharing := New(reflect.TypeFor[*struct{}](), Options{ShareValues: true})
			compare(t, sharing, typ, data)
			compare(t, sharing, typ, data) // with values of earlier objects
		}
	})
}

// FuzzList checks that a list that Kubernetes' decoder accepts results in the same items, however it is cut
// into reads, and that a list that it refuses is refused, after whole items only. The one exception is a list
// that has its items twice.
func FuzzList(f *testing.F) {
	_, list := deployments(2)
	f.Add(list, byte(0))
	f.Add([]byte(`{"items":null,"kind":"a","metadata":{"continue":"x"},"b":[1,2.5e3]}`), byte(1))
	f.Add([]byte(`{"kind": "a", "metadata": {"continue": "x"}, "items": [ {}, {} ], "b": 1}`), byte(1))
	for _, doc := range hostile() {
		f.Add([]byte(`{"metadata":`+doc+`,"items":[{},`+doc+`,{"spec":`+doc+`}],"kind":`+doc+`}`), byte(7))
	}
	f.Fuzz(func(t *testing.T, data []byte, most byte) {
		var want appsv1.DeploymentList
		wantErr := kjson.Unmarshal(data, &want)
		var from io.Reader = bytes.NewReader(data)
		if most > 0 {
			from = &steps{data: data, most: int(most)}
		}
		got, meta, err := listAll(New(reflect.TypeFor[*appsv1.Deployment](), Options{}), from)
		switch {
		case errors.Is(err, errItemsTwice):
		case bytes.Equal(bytes.TrimSpace(data), []byte("null")):
			// Here, a list must be an object.
		case (err == nil) != (wantErr == nil):
			t.Fatalf("we say %v, they %v", err, wantErr)
		case err == nil:
			if len(got) != len(want.Items) || !reflect.DeepEqual(meta, want.ListMeta) {
				t.Fatalf("%d items and %v, expected %d and %v", len(got), meta, len(want.Items),
					want.ListMeta)
			}
			for i := range got {
				if !reflect.DeepEqual(got[i], &want.Items[i]) {
					t.Fatalf("item %d: %s", i, difference(got[i], &want.Items[i]))
				}
			}
		}
	})
}

// hostile are values that take much time or memory for their length, or that only look like JSON.
func hostile() []string {
	many := func(s string) string { return strings.Repeat(s, 1000) }
	return []string{
		many("[") + many("]"), many(`{"a":`) + "1" + many("}"), many("["), many(`{"a":`),
		"[" + many("{},") + "{}]", "[" + many("[[]],") + "null]", `{` + many(`"a":"b",`) + `"a":{}}`,
		`"` + many("x") + `"`, `"` + many(`\u0000\ud800`) + `"`, `"` + many("\xff") + `"`, `"` + many(`\"`),
		many(`"\`),
		many("9"), "-" + many("9") + "." + many("9"), "1e" + many("9"), "0." + many("0") + "1e+" + many("9"),
		many(" ") + "{}" + many("\n"), "{\x00}", "[1,\x00]", `{"a"` + many(" ") + `:1}`,
		"nul", "-", "1.", "1e", `{"a":1,}`,
	}
}

// steps returns at most that many bytes in each read.
type steps struct {
	data []byte
	most int
}

func (s *steps) Read(p []byte) (int, error) {
	if len(s.data) == 0 {
		return 0, io.EOF
	}
	n := copy(p[:min(len(p), s.most)], s.data)
	s.data = s.data[n:]
	return n, nil
}
