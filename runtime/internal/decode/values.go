package decode

import (
	"encoding/base64"
	"encoding/json"
	"reflect"
	"strconv"
	"time"
	"unsafe"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kjson "k8s.io/apimachinery/pkg/util/json"
)

// jsonDecoder decodes values of JSON text. All streams of a [Decoder] share it, one at a
// time.
//
// Its methods take the plan of a type and the address of a value of that type. The value may
// have content: if a name comes twice, the second value is decoded onto the first. They return
// false after an error, and then leave the value half written. For rare cases that would need
// much code, they call foreign.
type jsonDecoder struct {
	scanner
	// left is how many bytes of memory the object may still take, beside its strings.
	left    int
	plans   plans
	strings stringTable
	// values holds decoded values to share, if shareValues is set. shareFieldSets shares only the fieldsV1 of
	// the managedFields of unstructured objects.
	values                      valueTable
	shareValues, shareFieldSets bool
	// plainString is the plan of strings in slices and maps, uniqueString that of strings that don't repeat.
	plainString, uniqueString plan
	// pairs collects the strings of a slice or a map until their number is known, so
	// that each is allocated once, in its final size.
	pairs []string
	// members and elements do the same for untyped maps and slices.
	members  []member
	elements []any
	// ints holds integers as interfaces.
	ints *[knownInts]any
	// histories are those of untyped maps and slices, by their names in the map around them.
	// otherHistory is for the names beyond mostHistories.
	histories    map[string]*history
	otherHistory history
	// identity is that of the object that was looked up last. It is here because a
	// local variable would be allocated for each object.
	identity identity
	// asked is what isWanted read last. It is here for the same reason.
	asked asked
	// metadata is the cut of the object's metadata.
	metadata *cut
	// times receives the times of managedFields that are skipped. It is nil while nobody asks for them.
	times *newest
}

// value decodes the value at pos into the value of p's type at at.
func (d *jsonDecoder) value(p *plan, at unsafe.Pointer) bool {
	switch p.op {
	case opString:
		return d.string(p, (*string)(at))
	case opStruct:
		return d.structure(p, at)
	case opPointer:
		return d.pointer(p, at)
	case opSlice:
		return d.slice(p, at)
	case opStrings:
		return d.stringSlice(p, (*[]string)(at))
	case opBytes:
		return d.byteSlice(p, at)
	case opStringMap:
		return d.stringMap(p, (*map[string]string)(at))
	case opMap:
		return d.mapping(p, at)
	case opAny:
		return d.anything(p, (*any)(at))
	case opBool:
		return d.bool(p, (*bool)(at))
	case opInt:
		return d.int(p, at)
	case opUint:
		return d.uint(p, at)
	case opFloat:
		return d.float(p, at)
	case opTime:
		return d.time(p, at)
	case opUnmarshaler:
		return d.unmarshaler(p, at)
	default:
		return d.foreign(p, at)
	}
}

// mismatched records that p's type can't hold a value of this kind. The value is skipped
// first, so that malformed JSON is reported as such.
func (d *jsonDecoder) mismatched(p *plan) bool {
	found := kindOf(d.data[d.pos])
	return d.skip() && d.mismatch(found, p.typ)
}

// null reads a null, which clears a pointer, map, slice or interface.
func (d *jsonDecoder) null(p *plan, at unsafe.Pointer) bool {
	if !d.literal("null") {
		return false
	}
	reflect.NewAt(p.typ, at).Elem().SetZero()
	return true
}

func (d *jsonDecoder) string(p *plan, to *string) bool {
	switch d.data[d.pos] {
	case '"':
		text, ok := d.bytes()
		if ok {
			*to = d.text(text, p.unique)
		}
		return ok
	case 'n':
		return d.literal("null")
	}
	return d.mismatched(p)
}

// text returns a string of that content, if possible one that it returned before, unless strings are unique.
func (d *jsonDecoder) text(content []byte, unique bool) string {
	if unique {
		return string(content)
	}
	return d.strings.get(content)
}

func (d *jsonDecoder) bool(p *plan, to *bool) bool {
	switch d.data[d.pos] {
	case 't':
		*to = true
		return d.literal("true")
	case 'f':
		*to = false
		return d.literal("false")
	case 'n':
		return d.literal("null")
	}
	return d.mismatched(p)
}

// numeral reads the number at pos. It returns nil for null, which doesn't change numbers.
func (d *jsonDecoder) numeral(p *plan) (text []byte, ok bool) {
	switch c := d.data[d.pos]; {
	case c == '-' || isDigit(c):
		return d.number()
	case c == 'n':
		return nil, d.literal("null")
	}
	return nil, d.mismatched(p)
}

// int decodes into an int of any size.
func (d *jsonDecoder) int(p *plan, at unsafe.Pointer) bool {
	text, ok := d.numeral(p)
	if text == nil {
		return ok
	}
	n, err := parseInt(text)
	size := p.typ.Size()
	if unused := 64 - 8*size; err != nil || n<<unused>>unused != n {
		return d.mismatch("number", p.typ)
	}
	switch size {
	case 8:
		*(*int64)(at) = n
	case 4:
		*(*int32)(at) = int32(n)
	case 2:
		*(*int16)(at) = int16(n)
	case 1:
		*(*int8)(at) = int8(n)
	}
	return true
}

// parseInt is [strconv.ParseInt] for text of limited length, because the text is copied.
func parseInt(text []byte) (int64, error) {
	if len(text) > longestInt {
		return 0, strconv.ErrRange
	}
	return strconv.ParseInt(string(text), 10, 64)
}

// longestInt is the length of the smallest integer.
const longestInt = len("-9223372036854775808")

// uint decodes into a uint of any size. API types have few, so reflection will do.
func (d *jsonDecoder) uint(p *plan, at unsafe.Pointer) bool {
	text, ok := d.numeral(p)
	if text == nil {
		return ok
	}
	v := reflect.NewAt(p.typ, at).Elem()
	if len(text) > longestInt { // This is also the length of the largest uint.
		return d.mismatch("number", p.typ)
	}
	n, err := strconv.ParseUint(string(text), 10, 64)
	if err != nil || v.OverflowUint(n) {
		return d.mismatch("number", p.typ)
	}
	v.SetUint(n)
	return true
}

// float decodes into a float of any size, with reflection as well.
func (d *jsonDecoder) float(p *plan, at unsafe.Pointer) bool {
	text, ok := d.numeral(p)
	if text == nil {
		return ok
	}
	v := reflect.NewAt(p.typ, at).Elem()
	n, err := strconv.ParseFloat(string(text), p.typ.Bits())
	if err != nil || v.OverflowFloat(n) {
		return d.mismatch("number", p.typ)
	}
	v.SetFloat(n)
	return true
}

// pointer decodes into the value that a pointer points to. If the name came before, that is the same value.
func (d *jsonDecoder) pointer(p *plan, at unsafe.Pointer) bool {
	slot := anyPointer(at)
	if d.data[d.pos] == 'n' {
		return d.null(p, at)
	}
	if *slot == nil {
		if !d.spend(int(p.elem.typ.Size())) {
			return false
		}
		*slot = reflect.New(p.elem.typ).UnsafePointer()
	}
	return d.value(p.elem, *slot)
}

// byteSlice decodes a []byte from a string in base64.
func (d *jsonDecoder) byteSlice(p *plan, at unsafe.Pointer) bool {
	to := (*[]byte)(at)
	switch d.data[d.pos] {
	case '"':
		text, ok := d.bytes()
		if !ok {
			return false
		}
		decoded := make([]byte, base64.StdEncoding.DecodedLen(len(text)))
		n, err := base64.StdEncoding.Decode(decoded, text)
		if err != nil {
			return d.fail(&TypeError{Found: "string", Type: p.typ, Err: err})
		}
		*to = decoded[:n]
		return true
	case 'n':
		return d.null(p, at)
	}
	return d.foreign(p, at)
}

// time decodes a [metav1.Time]. Servers write whole seconds in UTC: parseSeconds reads those
// without the type's own method, which decodes the string by encoding/json and then parses
// it. For a deployment with 7 times it saves 21 of 71 allocations. All other texts are
// left to the method.
func (d *jsonDecoder) time(p *plan, at unsafe.Pointer) bool {
	const length = len(`"2006-01-02T15:04:05Z"`)
	text := d.data[d.pos:]
	if d.pos+length <= d.end && text[0] == '"' && text[length-1] == '"' {
		if seconds := parseSeconds(text[1 : length-1]); seconds != 0 {
			(*metav1.Time)(at).Time = time.Unix(seconds, 0)
			d.pos += length
			return true
		}
	}
	return d.unmarshaler(p, at)
}

// unmarshaler decodes a value by its type's UnmarshalJSON.
func (d *jsonDecoder) unmarshaler(p *plan, at unsafe.Pointer) bool {
	text, ok := d.raw()
	if !ok {
		return false
	}
	if err := reflect.NewAt(p.typ, at).Interface().(json.Unmarshaler).UnmarshalJSON(text); err != nil {
		return d.refused(p.typ, text, err)
	}
	return true
}

// foreign decodes a value by Kubernetes' own decoder. It is for types without a plan, and
// for the second value of a name that comes twice, which is decoded onto the first.
func (d *jsonDecoder) foreign(p *plan, at unsafe.Pointer) bool {
	text, ok := d.raw()
	if !ok {
		return false
	}
	if err := kjson.Unmarshal(text, reflect.NewAt(p.typ, at).Interface()); err != nil {
		return d.refused(p.typ, text, err)
	}
	return true
}

// anything decodes into an interface without methods.
func (d *jsonDecoder) anything(p *plan, to *any) bool {
	if *to != nil && reflect.TypeOf(*to).Kind() == reflect.Pointer {
		// The name came before: as in encoding/json, this value is decoded into the value
		// that the interface points to.
		return d.foreign(p, unsafe.Pointer(to))
	}
	v, ok := d.untyped(nil)
	if ok {
		*to = v
	}
	return ok
}
