package decode

import (
	"encoding"
	"encoding/json"
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// op is how a type is decoded.
type op uint8

const (
	// opForeign leaves it to Kubernetes' own decoder.
	opForeign op = iota
	opString
	opBool
	opInt
	opUint
	opFloat
	opStruct
	opPointer
	opSlice
	opStrings // []string
	opBytes   // []byte
	opMap
	opStringMap // map[string]string
	opAny
	opTime
	opUnmarshaler
)

// plan is what there is to know of a type. It is compiled one level at a time:
// a type that never occurs in what is decoded costs nothing.
type plan struct {
	op  op
	typ reflect.Type
	// elem is the plan of what a pointer, slice or map holds.
	elem *plan
	// fields are a struct's, without those that cut drops.
	fields *fields
	cut    *cut
	// unique says that strings of this plan don't repeat.
	unique bool
	// spare is memory for use while decoding: a slice, or an element of a map,
	// with spareKey for its key.
	spare, spareKey reflect.Value
}

// plans are the plans of types, compiled when they are first asked for.
type plans map[planKey]*plan

// planKey is a type, and what of it is dropped where it stands.
type planKey struct {
	typ reflect.Type
	cut *cut
}

func (ps plans) of(t reflect.Type) *plan { return ps.without(nil, t) }

func (ps plans) without(c *cut, t reflect.Type) *plan {
	key := planKey{t, c}
	if p, ok := ps[key]; ok {
		return p
	}
	p := &plan{typ: t, cut: c}
	ps[key] = p
	p.op = ps.choose(p, t)
	return p
}

func (ps plans) choose(p *plan, t reflect.Type) op {
	if t == reflect.TypeFor[metav1.Time]() {
		return opTime
	}
	kind := t.Kind()
	// encoding/json looks for methods on the address of a named type. Unnamed
	// types that have some, by embedding, are rare enough to be left to it.
	if kind != reflect.Pointer && kind != reflect.Interface {
		methods := reflect.PointerTo(t)
		switch {
		case methods.Implements(reflect.TypeFor[json.Unmarshaler]()) && t.Name() != "":
			return opUnmarshaler
		case methods.Implements(reflect.TypeFor[json.Unmarshaler]()), methods.Implements(reflect.TypeFor[encoding.TextUnmarshaler]()):
			return opForeign
		}
	}
	switch kind {
	case reflect.String:
		if t == reflect.TypeFor[json.Number]() {
			return opForeign
		}
		return opString
	case reflect.Bool:
		return opBool
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return opInt
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return opUint
	case reflect.Float32, reflect.Float64:
		return opFloat
	case reflect.Struct:
		return opStruct
	case reflect.Pointer:
		if t.Name() != "" || t.Implements(reflect.TypeFor[json.Unmarshaler]()) && t.Elem().Kind() == reflect.Interface {
			return opForeign
		}
		p.elem = ps.without(p.cut, t.Elem())
		return opPointer
	case reflect.Slice:
		switch {
		case t.Elem().Kind() == reflect.Uint8:
			return opBytes
		case t.Elem() == reflect.TypeFor[string]():
			return opStrings
		}
		p.elem = ps.without(p.cut, t.Elem())
		return opSlice
	case reflect.Map:
		switch key := t.Key(); {
		case key == reflect.TypeFor[string]() && t.Elem() == reflect.TypeFor[string]():
			return opStringMap
		case key.Kind() == reflect.String && !reflect.PointerTo(key).Implements(reflect.TypeFor[encoding.TextUnmarshaler]()):
			p.elem = ps.without(p.cut, t.Elem())
			return opMap
		}
		return opForeign
	case reflect.Interface:
		if t.NumMethod() == 0 && t.Name() == "" {
			return opAny
		}
		return opForeign
	}
	return opForeign
}
