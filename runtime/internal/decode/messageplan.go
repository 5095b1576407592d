package decode

import (
	"encoding/binary"
	"math"
	"reflect"
	"strconv"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// fieldOp is how a field of a message is decoded. noOp is for field numbers that the type
// doesn't have.
type fieldOp uint8

// There is an op for each kind of field that types of Kubernetes have. They have no floats, fixed
// integers or packed fields.
const (
	noOp fieldOp = iota
	boolOp
	int32Op
	int64Op
	boolPointerOp
	int32PointerOp
	int64PointerOp
	stringOp
	stringPointerOp
	bytesOp
	messageOp
	messagePointerOp
	messagesOp  // a slice of messages
	stringsOp   // a slice of strings
	stringMapOp // map[string]string
	mapOp       // of strings to messages or bytes
)

// messagePlan describes the encoding of a type in protobuf. It is compiled from the tags of
// the fields.
type messagePlan struct {
	typ reflect.Type
	// own leaves messages to the type's own method. Then jsonPlan is used to normalize the result.
	own      bool
	jsonPlan *plan
	// fields are indexed by their numbers.
	fields []messageField
}

// messageField is a field of a message and where its value goes.
type messageField struct {
	op     fieldOp
	wire   int
	offset uintptr
	typ    reflect.Type
	// elem is the plan of the field's message, or of its elements. size is that of an
	// element of a slice.
	elem *messagePlan
	size uintptr
	// drop means that the value is skipped, timed that it is an entry of metadata.managedFields then, unique
	// that it doesn't repeat.
	drop, timed, unique bool
	// key and value are memory to decode an entry of a map into. value is invalid while they are in use.
	key, value reflect.Value
}

var noField messageField

// largestField is the largest number of a field for which a type has a plan. Types of
// Kubernetes number their fields from one without gaps.
const largestField = 1 << 10

// messageOf returns the plan of a type without the fields that c drops. The type's pointer
// must be a message.
func (d *protoDecoder) messageOf(c *cut, t reflect.Type) *messagePlan {
	key := planKey{t, c}
	if p, ok := d.messages[key]; ok {
		return p
	}
	p := &messagePlan{typ: t}
	d.messages[key] = p // Before its fields: the type may contain itself.
	if !isGenerated(t) || !d.addFields(p, c) || !d.agrees(p) {
		p.own, p.fields, p.jsonPlan = true, nil, d.json.plans.without(c, t)
	}
	return p
}

// isGenerated reports whether the Unmarshal method of a type is expected to follow the tags of
// its fields, if all have one. In Kubernetes' own packages the method was generated from the
// tags, or written by hand to do the same, as that of metav1.FieldsV1 was. But a program may be
// built with other versions of these packages than this package is tested with, or with forks:
// so agrees decides.
func isGenerated(t reflect.Type) bool {
	return t.Kind() == reflect.Struct &&
		(strings.HasPrefix(t.PkgPath(), "k8s.io/api/") ||
			strings.HasPrefix(t.PkgPath(), "k8s.io/apimachinery/"))
}

// verified holds the results of agrees, a bool by reflect.Type.
var verified sync.Map

// agrees reports whether the plan of a type decodes each of its fields as the type's own
// method does. It checks a type once in a process, or once for each plan if the plan drops
// fields: for pods, which have 141 messages, that takes 2 ms. Messages in fields are empty
// here: they are verified with their own types.
func (d *protoDecoder) agrees(p *messagePlan) bool {
	if known, ok := verified.Load(p.typ); ok {
		return known.(bool)
	}
	left := d.json.left
	d.json.left = math.MaxInt // The samples don't count as memory of the message.
	defer func() { d.json.left = left }()
	whole := true
	for number := range p.fields {
		f := &p.fields[number]
		if whole = whole && !f.drop; f.op == noOp || f.drop {
			continue
		}
		text := f.sample(number)
		byPlan, byMethod := reflect.New(p.typ), reflect.New(p.typ)
		if !d.message(p, text, byPlan.UnsafePointer()) ||
			unmarshal(byMethod.Interface().(message), text) != nil ||
			!reflect.DeepEqual(byPlan.Interface(), byMethod.Interface()) {
			verified.Store(p.typ, false)
			return false
		}
	}
	if whole {
		verified.Store(p.typ, true)
	}
	return true
}

// sample is a message with nothing but this field.
func (f *messageField) sample(number int) []byte {
	text := binary.AppendUvarint(nil, uint64(number)<<3|uint64(f.wire))
	value := "v"
	if f.elem != nil {
		value = ""
	}
	switch {
	case f.wire == wireVarint:
		return append(text, 1)
	case f.op == stringMapOp || f.op == mapOp:
		value = "\x0a\x01k\x12" + string(rune(len(value))) + value
	}
	return append(append(text, byte(len(value))), value...)
}

// addFields compiles the fields of a plan. It returns false for a type with a field that can't
// be decoded here.
func (d *protoDecoder) addFields(p *messagePlan, c *cut) bool {
	for sf := range p.typ.Fields() {
		tag, tagged := sf.Tag.Lookup("protobuf")
		if !tagged && sf.Anonymous && sf.Type == reflect.TypeFor[metav1.TypeMeta]() {
			continue // The kind is in the runtime.Unknown around the message.
		}
		// Some tags have the wrong wire type: the type of the field decides.
		wire, rest, _ := strings.Cut(tag, ",")
		digits, _, _ := strings.Cut(rest, ",")
		number, err := strconv.Atoi(digits)
		if err != nil || number <= 0 || number > largestField || !sf.IsExported() {
			return false
		}
		name, _, _ := strings.Cut(sf.Tag.Get("json"), ",")
		f := messageField{offset: sf.Offset, typ: sf.Type}
		below := c
		if name != "" && name != "-" {
			f.drop, below = c.drops(name), c.forField(name)
			f.timed = f.drop && d.json.isManagedFields(p.typ, c, name)
		}
		f.unique = sf.Type == reflect.TypeFor[string]() && isUnique(p.typ, name)
		if wire != "varint" && wire != "bytes" || !d.choose(&f, below) {
			return false
		}
		for len(p.fields) <= number {
			p.fields = append(p.fields, messageField{})
		}
		p.fields[number] = f
	}
	return true
}

// choose sets the op of a field by its type. It returns false for types that can't be decoded
// here.
func (d *protoDecoder) choose(f *messageField, below *cut) bool {
	f.wire = wireBytes
	t := f.typ
	if isOddMessage(t) {
		return false
	}
	if isMessage(t) {
		f.op, f.elem = messageOp, d.messageOf(below, t)
		return true
	}
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		if isOddMessage(t.Elem()) {
			return false
		}
	}
	switch t.Kind() {
	case reflect.String:
		f.op = stringOp
	case reflect.Bool:
		f.op, f.wire = boolOp, wireVarint
	case reflect.Int32:
		f.op, f.wire = int32Op, wireVarint
	case reflect.Int64:
		f.op, f.wire = int64Op, wireVarint
	case reflect.Pointer:
		if isMessage(t.Elem()) {
			f.op, f.elem = messagePointerOp, d.messageOf(below, t.Elem())
			return true
		}
		switch t.Elem().Kind() {
		case reflect.String:
			f.op = stringPointerOp
		case reflect.Bool:
			f.op, f.wire = boolPointerOp, wireVarint
		case reflect.Int32:
			f.op, f.wire = int32PointerOp, wireVarint
		case reflect.Int64:
			f.op, f.wire = int64PointerOp, wireVarint
		}
	case reflect.Slice:
		f.size = t.Elem().Size()
		switch {
		case isMessage(t.Elem()):
			f.op, f.elem = messagesOp, d.messageOf(below, t.Elem())
		case t.Elem().Kind() == reflect.String:
			f.op = stringsOp
		case t.Elem().Kind() == reflect.Uint8:
			f.op = bytesOp
		}
	case reflect.Map:
		return d.chooseMap(f, below)
	}
	return f.op != noOp
}

// isMessage reports whether pointers to t have an encoding in protobuf.
func isMessage(t reflect.Type) bool {
	return reflect.PointerTo(t).Implements(reflect.TypeFor[message]())
}

// isOddMessage reports whether t is a message and not a struct. Slices that are messages, such
// as metav1.Verbs, need their own method: an empty one becomes an empty slice, not nil.
func isOddMessage(t reflect.Type) bool { return isMessage(t) && t.Kind() != reflect.Struct }

// chooseMap is choose for maps: of strings to strings, messages or bytes.
func (d *protoDecoder) chooseMap(f *messageField, below *cut) bool {
	key, elem := f.typ.Key(), f.typ.Elem()
	switch {
	case key == reflect.TypeFor[string]() && elem == reflect.TypeFor[string]():
		f.op = stringMapOp
		return true
	case key.Kind() != reflect.String:
		return false
	case isMessage(elem):
		f.elem = d.messageOf(below, elem)
	case elem.Kind() != reflect.Slice || elem.Elem().Kind() != reflect.Uint8:
		return false
	}
	f.op = mapOp
	return true
}
