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
		switch p.elem.op {
		case opString, opStruct, opPointer, opSlice, opStrings, opStringMap:
			v := reflect.NewAt(p.typ, at).Elem()
			first, size := v.UnsafePointer(), p.elem.typ.Size()
			for i := range v.Len() {
				d.settle(p.elem, unsafe.Add(first, uintptr(i)*size))
			}
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
	}
}

func (d *decoder) settleFields(p *plan, at unsafe.Pointer) {
	fs := d.fieldsOf(p)
	if fs == nil {
		return
	}
fields:
	for i := range fs.list {
		f := &fs.list[i]
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
		if f.plan == nil {
			d.compile(p, f)
		}
		d.settle(f.plan, to)
	}
}
