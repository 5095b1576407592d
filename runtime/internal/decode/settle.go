package decode

import (
	"reflect"
	"unsafe"
)

// settle does to an object that somebody else has decoded what decoding it here
// would have done: repeated strings are shared, dropped fields are cleared.
func (d *decoder) settle(p *plan, at unsafe.Pointer) {
	switch p.op {
	case opString:
		if s := (*string)(at); !p.unique {
			*s = d.strings.share(*s)
		}
	case opStruct:
		d.settleFields(p, at)
	case opPointer:
		if to := *(*unsafe.Pointer)(at); to != nil {
			d.settle(p.elem, to)
		}
	case opSlice:
		if !p.elem.settles() {
			return
		}
		// All slices have the same header.
		s := *(*[]byte)(at)
		first, size := unsafe.Pointer(unsafe.SliceData(s)), p.elem.typ.Size()
		for i := range len(s) {
			d.settle(p.elem, unsafe.Add(first, uintptr(i)*size))
		}
	case opStrings:
		s := *(*[]string)(at)
		for i := range s {
			s[i] = d.strings.share(s[i])
		}
	case opStringMap:
		m := *(*map[string]string)(at)
		for k, v := range m {
			// Assigning to a key of a map of strings replaces the key, too.
			m[d.strings.share(k)] = d.strings.share(v)
		}
	case opMap:
		d.settleMap(p, at)
	}
}

// settleMap settles copies of a map's values, which have no memory of their own.
func (d *decoder) settleMap(p *plan, at unsafe.Pointer) {
	m := reflect.NewAt(p.typ, at).Elem()
	if m.Len() == 0 {
		return
	}
	key, elem := reflect.New(p.typ.Key()).Elem(), reflect.New(p.elem.typ).Elem()
	for entry := m.MapRange(); entry.Next(); {
		elem.Set(entry.Value())
		d.settle(p.elem, elem.Addr().UnsafePointer())
		key.SetString(d.strings.share(entry.Key().String()))
		m.SetMapIndex(key, elem)
	}
}

// settles says whether there can be something to do in a value.
func (p *plan) settles() bool {
	switch p.op {
	case opString:
		return !p.unique
	case opStruct, opPointer, opSlice, opStrings, opStringMap, opMap:
		return true
	}
	return false
}

func (d *decoder) settleFields(p *plan, at unsafe.Pointer) {
	fs := d.fieldsOf(p)
	if fs == nil {
		return
	}
	if fs.unsettled == nil {
		fs.unsettled = d.unsettled(p, fs)
	}
fields:
	for _, f := range fs.unsettled {
		to := at
		for _, h := range f.via {
			if to = *(*unsafe.Pointer)(unsafe.Add(to, h.offset)); to == nil {
				continue fields
			}
		}
		to = unsafe.Add(to, f.offset)
		if f.drop {
			reflect.NewAt(f.typ, to).Elem().SetZero()
			continue
		}
		d.settle(f.plan, to)
	}
}

// unsettled are the fields that there can be something to do with.
func (d *decoder) unsettled(p *plan, fs *fields) []*field {
	some := []*field{}
	for i := range fs.list {
		f := &fs.list[i]
		if f.plan == nil && !f.drop {
			d.compile(p, f)
		}
		if f.drop || f.plan.settles() {
			some = append(some, f)
		}
	}
	return some
}
