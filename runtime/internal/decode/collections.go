package decode

import (
	"reflect"
	"strconv"
	"unsafe"
)

// spareElements is how many elements of a slice's spare memory are kept.
const spareElements = 256

// null reads a null that clears a pointer, map, slice or interface.
func (d *decoder) null(p *plan, at unsafe.Pointer) bool {
	if !d.literal("null") {
		return false
	}
	reflect.NewAt(p.typ, at).Elem().SetZero()
	return true
}

// open steps into an array. It returns true for empty if there is nothing in it
// and it is closed again.
func (d *decoder) open(end byte) (empty, ok bool) {
	if !d.enter() {
		return false, false
	}
	if d.next() == end {
		return true, d.leave()
	}
	return false, true
}

// another steps over the comma to the next value, or behind the end.
func (d *decoder) another(end byte, where string) (more, ok bool) {
	switch d.next() {
	case ',':
		d.pos++
		d.next()
		return true, true
	case end:
		return false, d.leave()
	}
	return false, d.unexpected(where)
}

// slice decodes elements into spare memory and then allocates what they need.
func (d *decoder) slice(p *plan, at unsafe.Pointer) bool {
	switch d.data[d.pos] {
	case '[':
	case 'n':
		return d.null(p, at)
	default:
		return d.mismatched(p)
	}
	target := reflect.NewAt(p.typ, at).Elem()
	if !target.IsNil() {
		// A duplicate is decoded onto what is there already.
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
	// The type may contain itself: who uses the spare memory takes it.
	spare := p.spare
	p.spare = reflect.Value{}
	if !spare.IsValid() {
		spare = reflect.New(p.typ).Elem()
	}
	n, size := 0, p.elem.typ.Size()
	for more := true; more; n++ {
		if n == spare.Len() {
			spare.Grow(max(n, 4))
			spare.SetLen(spare.Cap())
		}
		if ok = d.value(p.elem, unsafe.Add(spare.UnsafePointer(), uintptr(n)*size)); !ok {
			d.in("[" + strconv.Itoa(n) + "]")
			n++
			break
		}
		if more, ok = d.another(']', "after array element"); !ok {
			n++
			break
		}
	}
	if ok {
		// Making a slice by reflection would leave a header behind.
		target.Grow(n)
		target.SetLen(n)
		target.SetCap(n)
		reflect.Copy(target, spare)
	}
	if spare.Len() <= spareElements {
		spare.SetLen(n)
		spare.Clear()
		spare.SetLen(spare.Cap())
		p.spare = spare
	}
	return ok
}

func (d *decoder) stringSlice(p *plan, to *[]string) bool {
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
		if ok = d.string(&d.plainString, &s); !ok {
			d.in("[" + strconv.Itoa(len(d.pairs)-start) + "]")
			break
		}
		d.pairs = append(d.pairs, s)
		if more, ok = d.another(']', "after array element"); !ok {
			break
		}
	}
	if ok {
		*to = append(make([]string, 0, len(d.pairs)-start), d.pairs[start:]...)
	}
	d.drop(start)
	return ok
}

// slowSlice is for a []string whatever else than an array it is to become, or
// one that has content already.
func (d *decoder) slowSlice(p *plan, at unsafe.Pointer) bool {
	switch d.data[d.pos] {
	case '[':
		return d.foreign(p, at)
	case 'n':
		return d.null(p, at)
	}
	return d.mismatched(p)
}

// drop forgets the strings that were collected since start.
func (d *decoder) drop(start int) {
	clear(d.pairs[start:])
	d.pairs = d.pairs[:start]
}

func (d *decoder) stringMap(p *plan, to *map[string]string) bool {
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
		if ok = d.string(&d.plainString, &value); !ok {
			d.in("[" + strconv.Quote(key) + "]")
			break
		}
		d.pairs = append(d.pairs, key, value)
		if more, ok = d.another('}', "after object key:value pair"); !ok {
			break
		}
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
	d.drop(start)
	return ok
}

// key reads a map's key and the colon behind it, up to the value.
func (d *decoder) key() (string, bool) {
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

// mapping decodes a map with keys of any kind of string.
func (d *decoder) mapping(p *plan, at unsafe.Pointer) bool {
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
	key, elem := p.spareKey, p.spare
	p.spare = reflect.Value{}
	if !elem.IsValid() {
		key, elem = reflect.New(p.typ.Key()).Elem(), reflect.New(p.elem.typ).Elem()
	}
	for more := true; more && ok; {
		var name string
		if name, ok = d.key(); !ok {
			break
		}
		elem.SetZero()
		if ok = d.value(p.elem, elem.Addr().UnsafePointer()); !ok {
			d.in("[" + strconv.Quote(name) + "]")
			break
		}
		key.SetString(name)
		target.SetMapIndex(key, elem)
		more, ok = d.another('}', "after object key:value pair")
	}
	key.SetZero()
	elem.SetZero()
	p.spareKey, p.spare = key, elem
	return ok
}
