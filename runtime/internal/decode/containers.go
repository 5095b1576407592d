package decode

import (
	"encoding/binary"
	"reflect"
	"strconv"
	"unsafe"
)

// lookahead is the number of fields to compare a name with, in their order from the
// predicted one, before all fields are searched for the name. Encoders leave out empty fields,
// so the next name is often a few fields ahead. Prediction makes lists and watches 8%
// faster.
const lookahead = 6

// structure decodes an object into a struct.
func (d *jsonDecoder) structure(p *plan, at unsafe.Pointer) bool {
	switch d.data[d.pos] {
	case '{':
	case 'n':
		return d.literal("null")
	default:
		return d.mismatched(p)
	}
	fs := d.fieldsOf(p)
	if fs == nil {
		return d.foreign(p, at)
	}
	if !d.openBracket() {
		return false
	}
	if d.next() == '}' {
		return d.closeBracket()
	}
	// previous is where the number of the next field is remembered: in the field before,
	// or in fs for the first one.
	previous := &fs.first
	for {
		if d.data[d.pos] != '"' {
			return d.unexpected("looking for beginning of object key string")
		}
		f, ok := d.field(fs, previous)
		if !ok {
			return false
		}
		if f == nil || f.drop {
			// An unknown name doesn't change the prediction: it may be a field of a later
			// version that all objects have.
			if f != nil && f.timed {
				ok = d.skipManagedFields()
			} else {
				ok = d.skip()
			}
			if !ok {
				return false
			}
		} else {
			if f.plan == nil {
				d.compile(p, f)
			}
			// Fields of embedded structs belong to the outer object in JSON.
			to := at
			for _, h := range f.via {
				to = h.follow(to)
			}
			to = unsafe.Add(to, f.offset)
			if d.shareValues {
				ok = d.decodeShared(f, to)
			} else {
				ok = d.value(f.plan, to)
			}
			if !ok {
				return d.in("." + f.name())
			}
		}
		if f != nil {
			previous = &f.next
		}
		if more, ok := d.another('}', "after object key:value pair"); !more {
			return ok
		}
	}
}

// field reads a name and the colon, up to the value. It returns nil for a name that the
// struct doesn't have. previous has the number of the field that came here last time, and
// gets that of this one.
//
// The first eight bytes of a predicted name, including its quote and colon if it is short,
// are compared as one word first. The name is never copied, nor checked for escapes.
func (d *jsonDecoder) field(fs *fields, previous *int32) (*field, bool) {
	word := binary.LittleEndian.Uint64(d.data[d.pos+1:])
	n := int(*previous)
	for range min(lookahead, len(fs.list)) {
		f := &fs.list[n]
		if word&f.mask == f.word && (len(f.quoted) <= 8 || d.startsWith(f.quoted)) {
			d.pos += 1 + len(f.quoted)
			d.next()
			*previous = int32(n)
			return f, true
		}
		if n++; n == len(fs.list) {
			n = 0
		}
	}
	name, ok := d.bytes()
	if !ok {
		return nil, false
	}
	var f *field
	if i, known := fs.find(name); known {
		f = &fs.list[i]
		*previous = i
	}
	return f, d.colon()
}

func (d *jsonDecoder) startsWith(quoted string) bool {
	start := d.pos + 1
	return start+len(quoted) <= d.end && string(d.data[start:start+len(quoted)]) == quoted
}

// spareElements is the largest number of elements for which a plan keeps spare memory. One
// long slice must not hold memory for good.
const spareElements = 256

// slice decodes elements into spare memory of the plan, and then copies them to a slice of
// the size that they need. Without spare memory a deployment takes 10 more allocations, and
// 11 KB in place of 8.
func (d *jsonDecoder) slice(p *plan, at unsafe.Pointer) bool {
	switch d.data[d.pos] {
	case '[':
	case 'n':
		return d.null(p, at)
	default:
		return d.mismatched(p)
	}
	target := reflect.NewAt(p.typ, at).Elem()
	if !target.IsNil() {
		// The name came before: this value is decoded onto the first.
		return d.foreign(p, at)
	}
	empty, ok := d.open(']')
	if !ok {
		return false
	}
	if empty {
		target.Set(reflect.MakeSlice(p.typ, 0, 0))
		return true
	}
	// The type may contain itself: take the spare memory out of the plan, so that an inner
	// slice allocates its own.
	taken := p.spare
	if p.spare = nil; taken == nil {
		taken = &spare{value: reflect.New(p.typ).Elem()}
	}
	elems := taken.value
	n, size := 0, p.elem.typ.Size()
	for more := true; more; n++ {
		if n == elems.Len() {
			if ok = d.spend(max(n, 4) * int(size)); !ok {
				break
			}
			elems.Grow(max(n, 4))
			elems.SetLen(elems.Cap())
		}
		if ok = d.value(p.elem, unsafe.Add(elems.UnsafePointer(), uintptr(n)*size)); !ok {
			d.in("[" + strconv.Itoa(n) + "]")
			n++
			break
		}
		more, ok = d.another(']', "after array element")
	}
	if ok = ok && d.spend(n*int(size)); ok {
		// reflect.MakeSlice would allocate a header, too.
		target.Grow(n)
		target.SetLen(n)
		target.SetCap(n)
		reflect.Copy(target, elems)
	}
	// Only the copies may keep the decoded elements alive.
	if elems.Len() <= spareElements {
		elems.SetLen(n)
		elems.Clear()
		elems.SetLen(elems.Cap())
		p.spare = taken
	}
	return ok
}

// stringSlice decodes a []string.
func (d *jsonDecoder) stringSlice(p *plan, to *[]string) bool {
	if d.data[d.pos] != '[' || *to != nil {
		return d.slowSlice(p, unsafe.Pointer(to))
	}
	empty, ok := d.open(']')
	if !ok {
		return false
	}
	if empty {
		*to = []string{}
		return true
	}
	start := len(d.pairs)
	for more := true; more; {
		var s string
		if ok = d.string(&d.plainString, &s) && d.spend(elementCost); !ok {
			d.in("[" + strconv.Itoa(len(d.pairs)-start) + "]")
			break
		}
		d.pairs = append(d.pairs, s)
		more, ok = d.another(']', "after array element")
	}
	if ok {
		*to = append(make([]string, 0, len(d.pairs)-start), d.pairs[start:]...)
	}
	d.forget(start)
	return ok
}

// slowSlice decodes a []string that has elements already, or whose text isn't an array.
func (d *jsonDecoder) slowSlice(p *plan, at unsafe.Pointer) bool {
	switch d.data[d.pos] {
	case '[':
		return d.foreign(p, at)
	case 'n':
		return d.null(p, at)
	}
	return d.mismatched(p)
}

// forget removes the strings that were collected since start, so that they aren't kept alive.
func (d *jsonDecoder) forget(start int) {
	clear(d.pairs[start:])
	if d.pairs = d.pairs[:start]; start == 0 && cap(d.pairs) > largestStack {
		d.pairs = nil
	}
}

// stringMap decodes a map[string]string. If its name came before, it adds to the same map.
func (d *jsonDecoder) stringMap(p *plan, to *map[string]string) bool {
	switch d.data[d.pos] {
	case '{':
	case 'n':
		return d.null(p, unsafe.Pointer(to))
	default:
		return d.mismatched(p)
	}
	empty, ok := d.open('}')
	if !ok {
		return false
	}
	start := len(d.pairs)
	for more := !empty; more; {
		var key, value string
		if key, ok = d.key(); !ok {
			break
		}
		if ok = d.string(&d.plainString, &value) && d.spend(entryCost); !ok {
			d.inEntry(key)
			break
		}
		d.pairs = append(d.pairs, key, value)
		more, ok = d.another('}', "after object key:value pair")
	}
	if ok {
		collected := d.pairs[start:]
		if *to == nil {
			*to = make(map[string]string, len(collected)/2)
		}
		for i := 0; i < len(collected); i += 2 {
			(*to)[collected[i]] = collected[i+1]
		}
	}
	d.forget(start)
	return ok
}

// key reads a key and the colon, up to the value.
func (d *jsonDecoder) key() (string, bool) {
	if d.data[d.pos] != '"' {
		return "", d.unexpected("looking for beginning of object key string")
	}
	text, ok := d.bytes()
	if !ok {
		return "", false
	}
	key := d.strings.get(text)
	return key, d.colon()
}

// mapping decodes a map whose keys are strings of any type. The plan keeps a key and an
// element to decode into, since reflect copies both into the map.
func (d *jsonDecoder) mapping(p *plan, at unsafe.Pointer) bool {
	switch d.data[d.pos] {
	case '{':
	case 'n':
		return d.null(p, at)
	default:
		return d.mismatched(p)
	}
	empty, ok := d.open('}')
	if !ok {
		return false
	}
	target := reflect.NewAt(p.typ, at).Elem()
	if target.IsNil() {
		target.Set(reflect.MakeMap(p.typ))
	}
	if empty {
		return true
	}
	taken := p.spare
	if p.spare = nil; taken == nil {
		taken = &spare{value: reflect.New(p.elem.typ).Elem(), key: reflect.New(p.typ.Key()).Elem()}
	}
	key, elem := taken.key, taken.value
	cost := entryCost + 2*int(p.elem.typ.Size())
	for more := true; more; {
		var name string
		if name, ok = d.key(); !ok {
			break
		}
		elem.SetZero()
		if ok = d.value(p.elem, elem.Addr().UnsafePointer()) && d.spend(cost); !ok {
			d.inEntry(name)
			break
		}
		key.SetString(name)
		target.SetMapIndex(key, elem)
		more, ok = d.another('}', "after object key:value pair")
	}
	key.SetZero()
	elem.SetZero()
	p.spare = taken
	return ok
}
