package decode

import (
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"testing"

	kjson "k8s.io/apimachinery/pkg/util/json"
)

// compare decodes data with both decoders and compares the results.
func compare(t *testing.T, d *Decoder, typ reflect.Type, data []byte) {
	t.Helper()
	d.typ = typ
	want := reflect.New(typ).Interface()
	wantErr := kjson.Unmarshal(data, want)
	got, gotErr := unmarshalAs(d, typ, data)
	if (wantErr == nil) != (gotErr == nil) {
		t.Fatalf("%v: we say %v, they %v, of\n%s", typ, gotErr, wantErr, clip(data))
	}
	if wantErr == nil && !reflect.DeepEqual(got, want) {
		gotText, _ := json.Marshal(got)
		t.Fatalf("%v: different objects of\n%s\nwe give\n%s\n%s", typ, clip(data), clip(gotText),
			difference(got, want))
	}
}

// inputOf returns an input with all data present. It copies the data only if it must.
func inputOf(data []byte) *input {
	padded := make([]byte, len(data)+padding)
	copy(padded, data)
	return &input{data: padded, end: len(data), err: io.EOF}
}

// unmarshal decodes data, which must be one object and nothing else.
func (d *Decoder) unmarshal(data []byte) (object any, err error) {
	r := reader{Decoder: d, in: inputOf(data)}
	if _, err = r.peek(); err != nil {
		return object, err
	}
	err = r.try(func(d *jsonDecoder) (ok bool) {
		object, ok = r.object(d)
		return ok
	})
	if err == nil {
		err = r.checkEOF()
	}
	return object, err
}

// unmarshalAs decodes into a type that is known only at run time.
func unmarshalAs(d *Decoder, typ reflect.Type, data []byte) (any, error) {
	v := reflect.New(typ)
	r := reader{Decoder: d, in: inputOf(data)}
	if _, err := r.peek(); err != nil {
		return nil, err
	}
	err := r.try(func(d *jsonDecoder) bool { return d.value(d.plans.forType(typ), v.UnsafePointer()) })
	if err == nil {
		err = r.checkEOF()
	}
	return v.Interface(), err
}

func clip(data []byte) []byte { return data[:min(len(data), 4000)] }

// difference returns the first field that differs.
func difference(a, b any) string {
	var walk func(path string, a, b reflect.Value) string
	walk = func(path string, a, b reflect.Value) string {
		if a.Kind() != b.Kind() {
			return fmt.Sprintf("%s: %v and %v", path, a.Kind(), b.Kind())
		}
		switch a.Kind() {
		case reflect.Pointer, reflect.Interface:
			if a.IsNil() || b.IsNil() {
				if a.IsNil() != b.IsNil() {
					return fmt.Sprintf("%s: nil %v and %v", path, a.IsNil(), b.IsNil())
				}
				return ""
			}
			return walk(path, a.Elem(), b.Elem())
		case reflect.Struct:
			for i := range a.NumField() {
				if s := walk(path+"."+a.Type().Field(i).Name, a.Field(i), b.Field(i)); s != "" {
					return s
				}
			}
			return ""
		case reflect.Slice:
			if a.Len() != b.Len() || a.IsNil() != b.IsNil() {
				return fmt.Sprintf("%s: %d (nil %v) and %d (nil %v) elements", path, a.Len(), a.IsNil(),
					b.Len(), b.IsNil())
			}
			for i := range a.Len() {
				if s := walk(fmt.Sprintf("%s[%d]", path, i), a.Index(i), b.Index(i)); s != "" {
					return s
				}
			}
			return ""
		}
		if as, bs := fmt.Sprint(a), fmt.Sprint(b); as != bs {
			return fmt.Sprintf("%s: %s and %s", path, as, bs)
		}
		return ""
	}
	return walk("", reflect.ValueOf(a), reflect.ValueOf(b))
}
