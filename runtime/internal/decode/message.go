package decode

import (
	"bytes"
	"encoding/binary"
	"reflect"
	"unsafe"
)

// protoDecoder decodes messages of protobuf. It shares the string table and the budget of memory of json, and
// normalizes by the plans of json. All streams of a [Decoder] share it, one at a time.
type protoDecoder struct {
	json     *jsonDecoder
	messages map[planKey]*messagePlan
}

// A message is a sequence of fields, each with a tag in front, an integer of variable length:
//
//	tag = number<<3 | wire type
//	wire type 0: an integer of variable length
//	wire type 1: 8 bytes
//	wire type 2: a length and as many bytes: a string, []byte, message, or an element of a slice
//	wire type 5: 4 bytes
//
// A slice is a field that comes several times, a map a slice of messages with the fields 1 and 2.

// message decodes a regular message into the value of p's type at at. Regular messages are
// those that encoders write, including encoders of later versions of the type, whose new
// fields it skips. It returns false for other messages, and then leaves the value half
// written: the caller calls the type's own method, whose result or error counts. So message
// needs no errors of its own.
func (d *protoDecoder) message(p *messagePlan, text []byte, at unsafe.Pointer) bool {
	if p.own {
		if unmarshal(reflect.NewAt(p.typ, at).Interface().(message), text) != nil {
			return false
		}
		d.json.normalize(p.jsonPlan, at)
		return true
	}
	for len(text) > 0 {
		tag, n := uvarint(text)
		if n <= 0 || tag>>3 == 0 || tag > 1<<31 {
			return false
		}
		rest := text[n:]
		// A table by number instead of a map: a message of Kubernetes has few gaps.
		f := &noField
		if number := tag >> 3; number < uint64(len(p.fields)) {
			f = &p.fields[number]
		}
		if f.op != noOp && int(tag&7) != f.wire {
			return false // The type's own method reports the error.
		}
		switch tag & 7 {
		case wireVarint:
			number, n := uvarint(rest)
			if n <= 0 {
				return false
			}
			rest = rest[n:]
			if !f.drop {
				f.setNumber(unsafe.Add(at, f.offset), number)
			}
		case wireBytes:
			value, behind, ok := cutBytes(rest)
			if !ok {
				return false
			}
			if f.drop {
				if f.timed && d.json.times != nil {
					d.json.times.addEntry(value)
				}
			} else if f.op != noOp && !d.messageField(f, unsafe.Add(at, f.offset), value, text[:n], behind) {
				return false
			}
			rest = behind
		case wire64:
			if len(rest) < 8 {
				return false
			}
			rest = rest[8:]
		case wire32:
			if len(rest) < 4 {
				return false
			}
			rest = rest[4:]
		default:
			return false // Groups, which no encoder of Kubernetes writes.
		}
		text = rest
	}
	return true
}

// uvarint is binary.Uvarint, with a fast path for one byte: most tags and lengths have no
// more.
func uvarint(text []byte) (uint64, int) {
	if len(text) > 0 && text[0] < 0x80 {
		return uint64(text[0]), 1
	}
	return binary.Uvarint(text)
}

// cutBytes cuts off a value that has a length.
func cutBytes(text []byte) (value, behind []byte, ok bool) {
	size, n := uvarint(text)
	if n <= 0 || size > uint64(len(text)-n) {
		return nil, nil, false
	}
	end := n + int(size)
	return text[n:end:end], text[end:], true
}

// cutFields cuts a message into fields, whose numbers count from one. All of them must have a
// length. A field that isn't there stays nil. It returns false for other messages, including
// those where a field comes twice.
func cutFields(text []byte, fields [][]byte) bool {
	for len(text) > 0 {
		i := int(text[0]>>3) - 1
		if i < 0 || i >= len(fields) || text[0]&7 != wireBytes || fields[i] != nil {
			return false
		}
		var ok bool
		if fields[i], text, ok = cutBytes(text[1:]); !ok {
			return false
		}
	}
	return true
}

// setNumber sets a bool or an int, or a pointer to one.
func (f *messageField) setNumber(to unsafe.Pointer, number uint64) {
	switch f.op {
	case boolOp:
		*(*bool)(to) = number != 0
	case int32Op:
		*(*int32)(to) = int32(number)
	case int64Op:
		*(*int64)(to) = int64(number)
	case boolPointerOp:
		*(**bool)(to) = new(number != 0)
	case int32PointerOp:
		*(**int32)(to) = new(int32(number))
	case int64PointerOp:
		*(**int64)(to) = new(int64(number))
	}
}

// messageField decodes a field that has a length. tag is the field's tag and behind the text
// that follows, to count how many more elements there are.
func (d *protoDecoder) messageField(f *messageField, to unsafe.Pointer, value, tag, behind []byte) bool {
	switch f.op {
	case stringOp:
		*(*string)(to) = d.json.text(value, f.unique)
	case stringPointerOp:
		*(**string)(to) = new(d.json.text(value, f.unique))
	case bytesOp:
		// A copy: value is part of the window.
		*(*[]byte)(to) = bytes.Clone(value)
	case messageOp:
		return d.message(f.elem, value, to)
	case messagePointerOp:
		// A message that comes twice is merged.
		slot := anyPointer(to)
		if *slot == nil {
			if !d.json.spend(int(f.elem.typ.Size())) {
				return false
			}
			*slot = reflect.New(f.elem.typ).UnsafePointer()
		}
		return d.message(f.elem, value, *slot)
	case messagesOp:
		element := d.another(f, to, tag, behind)
		return element != nil && d.message(f.elem, value, element)
	case stringsOp:
		element := d.another(f, to, tag, behind)
		if element == nil {
			return false
		}
		*(*string)(element) = d.json.text(value, f.unique)
	case stringMapOp, mapOp:
		return d.messageEntry(f, to, value, tag, behind)
	}
	return true
}

// another appends a zero element to a slice, and returns its address, nil if the message takes too much
// memory. For the first element it makes room for all that follow: encoders write them one after the other,
// and growing the slice would take 3 more allocations for a Pod.
func (d *protoDecoder) another(f *messageField, to unsafe.Pointer, tag, behind []byte) unsafe.Pointer {
	s := anySlice(to)
	n := len(*s)
	if n == cap(*s) {
		more := max(1+following(tag, behind), n)
		if !d.json.spend((n + more) * int(f.size)) {
			return nil
		}
		reflect.NewAt(f.typ, to).Elem().Grow(more)
		*s = (*s)[: n : n+more]
	}
	*s = (*s)[:n+1]
	return element(*s, n, f.size)
}

// following returns how many fields with the same tag come next.
func following(tag, text []byte) (count int) {
	for bytes.HasPrefix(text, tag) {
		_, behind, ok := cutBytes(text[len(tag):])
		if !ok {
			return count
		}
		text = behind
		count++
	}
	return count
}

// mostExpected is the largest number of entries for which a map gets room at the first entry.
const mostExpected = 1 << 10

// messageEntry decodes an entry of a map, a message of a key and a value. Like another, it makes
// room for all entries at the first one, but for at most mostExpected.
func (d *protoDecoder) messageEntry(f *messageField, to unsafe.Pointer, entry, tag, behind []byte) bool {
	var parts [2][]byte
	if !cutFields(entry, parts[:]) {
		return false
	}
	// Encoders leave out values that are nil bytes, and nothing else.
	if parts[0] == nil || parts[1] == nil && (f.op != mapOp || f.elem != nil) {
		return false
	}
	if !d.json.spend(entryCost + int(f.typ.Elem().Size())) {
		return false
	}
	key := d.json.strings.get(parts[0])
	if f.op == stringMapOp {
		m := (*map[string]string)(to)
		if *m == nil {
			*m = make(map[string]string, min(1+following(tag, behind), mostExpected))
		}
		(*m)[key] = d.json.strings.get(parts[1])
		return true
	}
	target := reflect.NewAt(f.typ, to).Elem()
	if target.IsNil() {
		target.Set(reflect.MakeMapWithSize(f.typ, min(1+following(tag, behind), mostExpected)))
	}
	// reflect copies both into the map, so the same memory serves for all entries. The type may
	// contain itself: take the memory out of f while it is in use.
	name, value := f.key, f.value
	f.value = reflect.Value{}
	if !value.IsValid() {
		name, value = reflect.New(f.typ.Key()).Elem(), reflect.New(f.typ.Elem()).Elem()
	}
	ok := true
	if at := value.Addr().UnsafePointer(); f.elem != nil {
		ok = d.message(f.elem, parts[1], at)
	} else {
		*(*[]byte)(at) = append([]byte{}, parts[1]...)
	}
	if ok {
		name.SetString(key)
		target.SetMapIndex(name, value)
	}
	name.SetZero()
	value.SetZero()
	f.key, f.value = name, value
	return ok
}
