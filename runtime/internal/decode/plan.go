package decode

import (
	"cmp"
	"encoding"
	"encoding/binary"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"unicode"
	"unsafe"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// op is how values of a type are decoded.
type op uint8

// Ops are chosen by the kind of a type, so that named types have the ops of their underlying
// types. If a comment names a type, the op is for slices or maps of exactly these elements.
const (
	// opForeign leaves values to Kubernetes' own decoder.
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

// plan describes how to decode a type. It is compiled one level at a time: a type that never
// occurs in the data costs nothing. A Pod has 141 types of structs, of which few occur in one
// cluster.
//
//	v1.Pod                 opStruct
//	├── metadata           opStruct
//	│   ├── name           opString, unique
//	│   └── labels         opStringMap
//	└── spec               opStruct
//	    └── containers     opSlice, elem: the plan of v1.Container
type plan struct {
	op  op
	typ reflect.Type
	// elem is the plan of the elements of a pointer, slice or map.
	elem *plan
	// fields are a struct's, without those that cut drops.
	fields *fields
	cut    *cut
	// unique means that strings of this plan don't repeat.
	unique bool
	// spare is memory to decode into, nil before the first use and while in use.
	spare *spare
}

// spare is memory that a plan decodes into. The value is a slice, or an element of a map, whose key is key.
type spare struct{ value, key reflect.Value }

// plans are the plans of types, compiled when they are first needed.
type plans map[planKey]*plan

// planKey is a type and the fields to drop from it. These differ by place: a PodSpec may be
// complete in one field and not in another.
type planKey struct {
	typ reflect.Type
	cut *cut
}

// forType returns the plan of a type from which nothing is dropped.
func (ps plans) forType(t reflect.Type) *plan { return ps.without(nil, t) }

// without returns the plan of a type without the fields that c drops.
func (ps plans) without(c *cut, t reflect.Type) *plan {
	key := planKey{t, c}
	if p, ok := ps[key]; ok {
		return p
	}
	p := &plan{typ: t, cut: c}
	ps[key] = p // Before choose: the type may contain itself.
	p.op = ps.choose(p, t)
	return p
}

var (
	jsonUnmarshaler = reflect.TypeFor[json.Unmarshaler]()
	textUnmarshaler = reflect.TypeFor[encoding.TextUnmarshaler]()
)

// choose returns the op of a type and sets the plan of its elements. It makes the choices of
// encoding/json.
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
		case methods.Implements(jsonUnmarshaler) && t.Name() != "":
			return opUnmarshaler
		case methods.Implements(jsonUnmarshaler), methods.Implements(textUnmarshaler):
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
		if t.Name() != "" || t.Implements(jsonUnmarshaler) && t.Elem().Kind() == reflect.Interface {
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
		case key.Kind() == reflect.String && !reflect.PointerTo(key).Implements(textUnmarshaler):
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

// fieldsOf returns the fields of a struct's plan. For a struct that only Kubernetes' own
// decoder can decode it returns nil, and changes the plan's op to opForeign.
func (d *jsonDecoder) fieldsOf(p *plan) *fields {
	if p.fields == nil {
		if p.fields = fieldsOf(p.typ); p.fields == nil {
			p.op = opForeign
			return nil
		}
		for i := range p.fields.list {
			f := &p.fields.list[i]
			f.drop = p.cut.drops(f.name())
			f.timed = f.drop && d.isManagedFields(p.typ, p.cut, f.name())
		}
	}
	return p.fields
}

// compile sets the plan of a field, when the field occurs for the first time.
func (d *jsonDecoder) compile(p *plan, f *field) {
	f.plan = d.plans.without(p.cut.forField(f.name()), f.typ)
	if f.typ == reflect.TypeFor[string]() && isUnique(p.typ, f.name()) {
		f.plan = &d.uniqueString
	}
}

// isUnique reports whether a field rarely has the same value in two objects. Its strings
// aren't put into the table of strings, where they would replace others and never be found.
// Other names do repeat: those of containers, variables and owners.
func isUnique(t reflect.Type, name string) bool {
	isMetadata := t == reflect.TypeFor[metav1.ObjectMeta]() || t == reflect.TypeFor[Identity]() ||
		t == reflect.TypeFor[asked]()
	return isMetadata && isUniqueName(name)
}

// isUniqueName is isUnique for a field of an object's metadata.
func isUniqueName(name string) bool {
	return name == "name" || name == "uid" || name == "resourceVersion"
}

// fields are the fields of a struct, by the names that they have in JSON.
type fields struct {
	// list has the fields in the order of the struct, in which encoders write them.
	list []field
	// first is the number of the field that the last object began with.
	first int32
	// toNormalize are the fields that normalize visits, nil before the first time.
	toNormalize []*field
}

// field is a field of a struct and where its value goes.
type field struct {
	// quoted is the name as it stands in the text, without the first quote and with
	// the second and the colon. word is its first eight bytes, mask selects the bytes of
	// word that exist.
	quoted     string
	word, mask uint64
	// offset is from the struct, or from the last of the pointers that lead to
	// an embedded struct.
	offset uintptr
	via    []hop
	typ    reflect.Type
	// plan is nil until the field is first met.
	plan *plan
	// drop means that the value is skipped, timed that it is metadata.managedFields then.
	drop, timed bool
	// next is the number of the field that followed last time.
	next int32
	// history decides whether values of the field are worth looking for, see decodeShared.
	history history
}

func (f *field) name() string { return f.quoted[:len(f.quoted)-2] }

// hop is a pointer to an embedded struct on the way to a field.
type hop struct {
	offset uintptr
	typ    reflect.Type // of the struct that it points to
}

// follow returns the struct that the pointer points to. It allocates the struct if the pointer is nil.
func (h hop) follow(at unsafe.Pointer) unsafe.Pointer {
	slot := anyPointer(unsafe.Add(at, h.offset))
	if *slot == nil {
		*slot = reflect.New(h.typ).UnsafePointer()
	}
	return *slot
}

// candidate is a field that may be hidden by another of its name. The rules are those of
// encoding/json for embedded structs: the shallowest field wins, then the one whose name
// comes from a tag. If several are left, all are ignored.
type candidate struct {
	field
	name  string
	index []int
	// untagged is 0 if the name comes from a tag, else 1.
	untagged int
	// foreign means that the tag has the option string.
	foreign bool
	// settable is false behind a pointer to an unexported struct: encoding/json can't
	// allocate that, and returns an error.
	settable bool
}

// level is a struct whose fields are searched: the type itself, or an embedded one.
type level struct {
	typ      reflect.Type
	index    []int
	offset   uintptr
	via      []hop
	settable bool
}

// fieldsOf returns the fields of a struct type, found breadth first as in encoding/json. It
// returns nil if only Kubernetes' own decoder can decode one of them.
func fieldsOf(t reflect.Type) *fields {
	var all []*candidate // pointers: all kinds of them share the linked code of a sort
	visited := map[reflect.Type]bool{}
	var count map[reflect.Type]int
	for current := []level{{typ: t, settable: true}}; len(current) > 0; {
		var deeper []level
		deeperCount := map[reflect.Type]int{}
		for _, l := range current {
			if visited[l.typ] {
				continue
			}
			visited[l.typ] = true
			for i := range l.typ.NumField() {
				c, inner := l.look(i)
				switch {
				case inner != nil:
					if deeperCount[inner.typ]++; deeperCount[inner.typ] == 1 {
						deeper = append(deeper, *inner)
					}
				case c != nil:
					all = append(all, c)
					if count[l.typ] > 1 {
						// The struct is embedded more than once at this depth:
						// its fields hide each other.
						all = append(all, c)
					}
				}
			}
		}
		current, count = deeper, deeperCount
	}
	return newFields(dominant(all))
}

// look returns field i as a candidate, or the struct that it embeds, or neither for a field
// that isn't in JSON.
func (l level) look(i int) (*candidate, *level) {
	sf := l.typ.Field(i)
	target := sf.Type
	if target.Name() == "" && target.Kind() == reflect.Pointer {
		target = target.Elem()
	}
	if !sf.IsExported() && !(sf.Anonymous && target.Kind() == reflect.Struct) {
		return nil, nil
	}
	tag := sf.Tag.Get("json")
	if tag == "-" {
		return nil, nil
	}
	name, options, _ := strings.Cut(tag, ",")
	if !validName(name) {
		name = ""
	}
	index := append(slices.Clone(l.index), i)
	if name == "" && sf.Anonymous && target.Kind() == reflect.Struct {
		inner := &level{typ: target, index: index, offset: l.offset + sf.Offset, via: l.via,
			settable: l.settable}
		if sf.Type.Kind() == reflect.Pointer {
			inner.via = append(slices.Clone(l.via), hop{offset: l.offset + sf.Offset, typ: target})
			inner.offset = 0
			inner.settable = l.settable && sf.IsExported()
		}
		return nil, inner
	}
	c := &candidate{index: index, name: name, settable: l.settable}
	if name == "" {
		c.name, c.untagged = sf.Name, 1
	}
	c.offset, c.via, c.typ = l.offset+sf.Offset, l.via, sf.Type
	c.foreign = slices.Contains(strings.Split(options, ","), "string")
	return c, nil
}

// validName reports whether encoding/json accepts a name in a tag.
func validName(name string) bool {
	return name != "" && !strings.ContainsFunc(name, func(c rune) bool {
		return !strings.ContainsRune("!#$%&()*+-./:;<=>?@[]^_{|}~ ", c) &&
			!unicode.IsLetter(c) && !unicode.IsDigit(c)
	})
}

// dominant removes the fields that others hide, and sorts the rest in the order of the
// struct.
func dominant(all []*candidate) []*candidate {
	slices.SortFunc(all, func(a, b *candidate) int {
		return cmp.Or(
			strings.Compare(a.name, b.name),
			cmp.Compare(len(a.index), len(b.index)),
			cmp.Compare(a.untagged, b.untagged),
			slices.Compare(a.index, b.index),
		)
	})
	var kept []*candidate
	for i, j := 0, 0; i < len(all); i = j {
		for j = i + 1; j < len(all) && all[j].name == all[i].name; j++ {
		}
		if j == i+1 || len(all[i].index) != len(all[i+1].index) || all[i].untagged != all[i+1].untagged {
			kept = append(kept, all[i])
		}
	}
	slices.SortFunc(kept, func(a, b *candidate) int { return slices.Compare(a.index, b.index) })
	return kept
}

// find returns the number of the field of that name. It is for fields that weren't predicted,
// which are few: an index by name would take as much memory as the list, in each decoder.
func (fs *fields) find(name []byte) (n int32, ok bool) {
	for i := range fs.list {
		if fs.list[i].name() == string(name) {
			return int32(i), true
		}
	}
	return 0, false
}

// newFields prepares the fields for comparisons. It returns nil if one can't be decoded here.
func newFields(kept []*candidate) *fields {
	fs := &fields{list: make([]field, len(kept))}
	for i, c := range kept {
		if c.foreign || !c.settable {
			return nil
		}
		f := c.field
		f.next = int32((i + 1) % len(kept))
		f.quoted = c.name + `":`
		var first [8]byte
		for j := range copy(first[:], f.quoted) {
			f.mask |= 0xff << (8 * j)
		}
		f.word = binary.LittleEndian.Uint64(first[:])
		fs.list[i] = f
	}
	return fs
}
