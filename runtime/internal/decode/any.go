package decode

import (
	"bytes"
	"math"
	"reflect"
	"strconv"
	"unsafe"
)

// anything decodes a value without a type.
func (d *decoder) anything(p *plan, to *any) bool {
	if *to != nil && reflect.TypeOf(*to).Kind() == reflect.Pointer {
		// A duplicate is decoded into what the interface points to.
		return d.foreign(p, unsafe.Pointer(to))
	}
	v, ok := d.untyped()
	if ok {
		*to = v
	}
	return ok
}

func (d *decoder) untyped() (any, bool) {
	switch c := d.data[d.pos]; c {
	case '"':
		text, ok := d.bytes()
		if !ok {
			return nil, false
		}
		return d.strings.get(text), true
	case '{':
		return d.untypedMap()
	case '[':
		return d.untypedSlice()
	case 't':
		return true, d.literal("true")
	case 'f':
		return false, d.literal("false")
	case 'n':
		return nil, d.literal("null")
	default:
		if c != '-' && !isDigit(c) {
			return nil, d.unexpected("looking for beginning of value")
		}
		text, ok := d.number()
		if !ok {
			return nil, false
		}
		return d.untypedNumber(text)
	}
}

// untypedNumber is an int64 if the text is an integer that fits.
func (d *decoder) untypedNumber(text []byte) (any, bool) {
	if bytes.IndexByte(text, '.') < 0 {
		if n, err := parseInt(text); err == nil {
			return n, true
		}
	}
	f, err := strconv.ParseFloat(string(text), 64)
	if err != nil || math.IsInf(f, 0) {
		return nil, d.mismatch("number "+string(text), reflect.TypeFor[float64]())
	}
	return f, true
}

func (d *decoder) untypedMap() (map[string]any, bool) {
	empty, ok := d.open('}')
	if !ok {
		return nil, false
	}
	m := map[string]any{}
	for more := !empty; more; {
		key, ok := d.key()
		if !ok {
			return nil, false
		}
		value, ok := d.untyped()
		if !ok {
			return nil, d.in("." + key)
		}
		m[key] = value
		if more, ok = d.another('}', "after object key:value pair"); !ok {
			return nil, false
		}
	}
	return m, true
}

func (d *decoder) untypedSlice() ([]any, bool) {
	empty, ok := d.open(']')
	if !ok {
		return nil, false
	}
	s := []any{}
	for more := !empty; more; {
		value, ok := d.untyped()
		if !ok {
			return nil, d.in("[" + strconv.Itoa(len(s)) + "]")
		}
		s = append(s, value)
		if more, ok = d.another(']', "after array element"); !ok {
			return nil, false
		}
	}
	return s, true
}
