package decode

import (
	"encoding/binary"
	"reflect"
	"unsafe"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// lookahead is how many fields are tried in their order before a name is looked
// up.
const lookahead = 6

func (d *decoder) structure(p *plan, at unsafe.Pointer) bool {
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
	if !d.enter() {
		return false
	}
	if d.next() == '}' {
		return d.leave()
	}
	// previous is where the number of the field that follows is remembered.
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
			if !d.skip() {
				return false
			}
		} else {
			if f.plan == nil {
				d.compile(p, f)
			}
			to := at
			for _, h := range f.via {
				to = h.follow(to)
			}
			to = unsafe.Add(to, f.offset)
			if d.shareValues {
				ok = d.share(f, to)
			} else {
				ok = d.value(f.plan, to)
			}
			if !ok {
				return d.in("." + f.name)
			}
		}
		if f != nil {
			previous = &f.next
		}
		switch c := d.data[d.pos]; {
		case c == ',':
			d.pos++
		case c == '}':
			return d.leave()
		case isSpace(c):
			switch d.next() {
			case ',':
				d.pos++
			case '}':
				return d.leave()
			default:
				return d.unexpected("after object key:value pair")
			}
		default:
			return d.unexpected("after object key:value pair")
		}
		d.next()
	}
}

// fieldsOf are the fields of a struct's plan, which is another's from then on if
// there are none.
func (d *decoder) fieldsOf(p *plan) *fields {
	if p.fields == nil {
		if p.fields = fieldsOf(p.typ); p.fields == nil {
			p.op = opForeign
			return nil
		}
		for i := range p.fields.list {
			p.fields.list[i].drop = p.cut.drops(p.fields.list[i].name)
		}
	}
	return p.fields
}

// field reads a name and the colon behind it, up to the value. It returns nil
// for a name that the struct doesn't know. previous says which field came next
// last time, and is corrected.
func (d *decoder) field(fs *fields, previous *int32) (*field, bool) {
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
	if i, known := fs.byName[string(name)]; known {
		f = &fs.list[i]
		*previous = i
	}
	return f, d.colon()
}

func (d *decoder) startsWith(quoted string) bool {
	start := d.pos + 1
	return start+len(quoted) <= d.end && string(d.data[start:start+len(quoted)]) == quoted
}

// follow returns the struct that an embedded pointer leads to, and makes it if
// there is none.
func (h hop) follow(at unsafe.Pointer) unsafe.Pointer {
	slot := (*unsafe.Pointer)(unsafe.Add(at, h.offset))
	if *slot == nil {
		*slot = reflect.New(h.typ).UnsafePointer()
	}
	return *slot
}

// compile finds the plan of a field.
func (d *decoder) compile(p *plan, f *field) {
	f.plan = d.plans.without(p.cut.of(f.name), f.typ)
	if f.typ == reflect.TypeFor[string]() && isUnique(p.typ, f.name) {
		f.plan = &plan{op: opString, typ: f.typ, unique: true}
	}
}

// isUnique says whether a field rarely has the same value in two objects: looking
// for another would be in vain. Elsewhere, names do repeat: those of containers,
// variables and owners.
func isUnique(t reflect.Type, name string) bool {
	if t != reflect.TypeFor[metav1.ObjectMeta]() && t != reflect.TypeFor[Identity]() {
		return false
	}
	return name == "name" || name == "uid" || name == "resourceVersion"
}
