package decode

import (
	"reflect"
	"unsafe"
)

// normalize is for objects in protobuf that protoDecoder leaves to the Unmarshal method of
// their type. It makes such an object equal to one that was decoded here: repeated strings are
// shared, dropped fields are cleared. It follows the plans for JSON, because the names to drop
// are those of JSON.
func (d *jsonDecoder) normalize(p *plan, at unsafe.Pointer) {
	switch p.op {
	case opString:
		if s := (*string)(at); !p.unique {
			*s = d.strings.intern(*s)
		}
	case opStruct:
		d.normalizeFields(p, at)
	case opPointer:
		if to := *anyPointer(at); to != nil {
			d.normalize(p.elem, to)
		}
	case opSlice:
		if !p.elem.needsNormalizing() {
			return
		}
		s, size := *anySlice(at), p.elem.typ.Size()
		for i := range len(s) {
			d.normalize(p.elem, element(s, i, size))
		}
	case opStrings:
		s := *(*[]string)(at)
		for i := range s {
			s[i] = d.strings.intern(s[i])
		}
	case opStringMap:
		m := *(*map[string]string)(at)
		for k, v := range m {
			// Assigning to a key of a map of strings replaces the key, too.
			m[d.strings.intern(k)] = d.strings.intern(v)
		}
	case opMap:
		d.normalizeMap(p, at)
	}
}

// normalizeMap normalizes copies of a map's values, which have no address.
func (d *jsonDecoder) normalizeMap(p *plan, at unsafe.Pointer) {
	m := reflect.NewAt(p.typ, at).Elem()
	if m.Len() == 0 {
		return
	}
	key, elem := reflect.New(p.typ.Key()).Elem(), reflect.New(p.elem.typ).Elem()
	for entry := m.MapRange(); entry.Next(); {
		elem.Set(entry.Value())
		d.normalize(p.elem, elem.Addr().UnsafePointer())
		key.SetString(d.strings.intern(entry.Key().String()))
		m.SetMapIndex(key, elem)
	}
}

// needsNormalizing reports whether values of a plan may have something to normalize: numbers
// and times don't.
func (p *plan) needsNormalizing() bool {
	switch p.op {
	case opString:
		return !p.unique
	case opStruct, opPointer, opSlice, opStrings, opStringMap, opMap:
		return true
	}
	return false
}

// normalizeFields normalizes a struct.
func (d *jsonDecoder) normalizeFields(p *plan, at unsafe.Pointer) {
	fs := d.fieldsOf(p)
	if fs == nil {
		return
	}
	if fs.toNormalize == nil {
		fs.toNormalize = d.fieldsToNormalize(p, fs)
	}
fields:
	for _, f := range fs.toNormalize {
		to := at
		for _, h := range f.via {
			if to = *anyPointer(unsafe.Add(to, h.offset)); to == nil {
				continue fields
			}
		}
		to = unsafe.Add(to, f.offset)
		if f.drop {
			reflect.NewAt(f.typ, to).Elem().SetZero()
			continue
		}
		d.normalize(f.plan, to)
	}
}

// fieldsToNormalize returns the fields that normalize has to visit.
func (d *jsonDecoder) fieldsToNormalize(p *plan, fs *fields) []*field {
	some := []*field{}
	for i := range fs.list {
		f := &fs.list[i]
		if f.plan == nil && !f.drop {
			d.compile(p, f)
		}
		if f.drop || f.plan.needsNormalizing() {
			some = append(some, f)
		}
	}
	return some
}
