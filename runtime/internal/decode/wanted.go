package decode

import (
	"fmt"
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// asked is the part of an object's metadata that is decoded to see whether the object is wanted.
type asked struct {
	Namespace       string `json:"namespace"`
	UID             string `json:"uid"`
	ResourceVersion string `json:"resourceVersion"`
}

// After convincing wanted objects in a row the server is assumed to send only such objects.
const convincing = 16

// ifWanted decodes the object at d's position, or skips it if it isn't wanted.
//
// It reads the metadata first. If all objects are wanted, that is wasted, and makes decoding take a quarter
// longer. So after convincing wanted objects in a row it decodes the next object first, and then checks
// whether it is wanted.
func (r *reader) ifWanted(d *jsonDecoder, want func(namespace, uid string) bool) (f found, ok bool) {
	start := d.position()
	if r.keepsAsked && r.inARow >= convincing {
		if f, ok = r.decodeFirst(d, want); ok || d.err == errMore {
			return f, ok
		}
		// The error, such as ErrTooLarge, doesn't matter if the object isn't wanted.
		d.goBack(start)
	}
	switch wanted, ok := d.isWanted(want); {
	case !ok && d.err == errMore:
		return f, false
	case ok && !wanted:
		r.inARow = 0
		return found{skipped: true, version: d.asked.ResourceVersion}, true
	}
	r.inARow++
	// After an error in the metadata, too: an unstructured object may be valid, others fail again.
	d.goBack(start)
	f.object, ok = r.object(d)
	return f, ok
}

// decodeFirst decodes an object, and then checks whether it is wanted.
func (r *reader) decodeFirst(d *jsonDecoder, want func(namespace, uid string) bool) (f found, ok bool) {
	object, ok := r.object(d)
	if !ok {
		return f, false
	}
	if m := object.(metav1.Object); !want(m.GetNamespace(), string(m.GetUID())) {
		r.inARow = 0
		return found{skipped: true, version: m.GetResourceVersion()}, true
	}
	return found{object: object}, true
}

// isWanted reads the object at pos up to the end of its metadata, or to its own end if it isn't wanted.
func (d *jsonDecoder) isWanted(want func(namespace, uid string) bool) (wanted, ok bool) {
	d.asked = asked{}
	if d.next() != '{' {
		return false, d.unexpected("looking for beginning of an object")
	}
	empty, ok := d.open('}')
	hasMetadata := false
	for more := ok && !empty; more; {
		if d.data[d.pos] != '"' {
			return false, d.unexpected("looking for beginning of object key string")
		}
		name, ok := d.bytes()
		isMetadata := string(name) == "metadata"
		if !ok || !d.colon() {
			return false, false
		}
		if isMetadata {
			// Metadata that comes twice is merged.
			hasMetadata, ok = true, decodeInto(d, &d.asked)
			if ok && want(d.asked.Namespace, d.asked.UID) {
				return true, true
			}
		} else {
			ok = d.skip()
		}
		if !ok {
			return false, false
		}
		if more, ok = d.another('}', "after object key:value pair"); !ok {
			return false, false
		}
	}
	return ok && !hasMetadata && want("", ""), ok
}

// wantsMessage reports whether an object in protobuf is wanted, and its version if it isn't. Fields have
// their lengths in front, so that this costs little. A message that it can't read counts as wanted: decoding
// it reports what is wrong.
func (r *reader) wantsMessage(
	text []byte, want func(namespace, uid string) bool,
) (wanted bool, version string) {
	if want == nil || !r.metadataFirst {
		return true, ""
	}
	var m messageMetadata
	for len(text) > 0 {
		number, value, behind, ok := cutField(text)
		if ok && number == objectMetadata {
			ok = m.read(value)
		}
		if !ok {
			return true, ""
		}
		text = behind
	}
	keep(&r.namespace, m[metadataNamespace])
	if want(r.namespace, string(m[metadataUID])) {
		return true, ""
	}
	return false, string(m[metadataVersion])
}

// Numbers of fields in all objects, and in their metadata.
const (
	objectMetadata                                                = 1
	metadataName, metadataNamespace, metadataUID, metadataVersion = 1, 3, 5, 6
)

// messageMetadata holds fields of a metav1.ObjectMeta by their numbers.
type messageMetadata [metadataVersion + 1][]byte

// read reads a message. Metadata that comes twice is merged. It returns false for a message that encoders
// don't write.
func (m *messageMetadata) read(text []byte) bool {
	if text == nil {
		return false
	}
	for len(text) > 0 {
		number, value, behind, ok := cutField(text)
		if !ok {
			return false
		}
		if number < uint64(len(m)) {
			if value == nil {
				return false
			}
			m[number] = value
		}
		text = behind
	}
	return true
}

// cutField cuts the first field off a message. The value is nil if it is a number.
func cutField(text []byte) (number uint64, value, behind []byte, ok bool) {
	tag, n := uvarint(text)
	if n <= 0 || tag>>3 == 0 {
		return 0, nil, nil, false
	}
	number, text = tag>>3, text[n:]
	switch tag & 7 {
	case wireVarint:
		_, n = uvarint(text)
	case wireBytes:
		value, behind, ok = cutBytes(text)
		return number, value, behind, ok
	case wire64:
		n = 8
	case wire32:
		n = 4
	default: // Groups, which no encoder of Kubernetes writes.
		return 0, nil, nil, false
	}
	if n <= 0 || n > len(text) {
		return 0, nil, nil, false
	}
	return number, nil, text[n:], true
}

// metadataOf reports whether a type has the metadata of Kubernetes' objects, and the field's number in
// protobuf, 0 if it has none.
func metadataOf(t reflect.Type) (number int, ok bool) {
	if t.Kind() != reflect.Struct || !reflect.PointerTo(t).Implements(reflect.TypeFor[metav1.Object]()) {
		return 0, false
	}
	f, ok := t.FieldByName("ObjectMeta")
	if !ok || len(f.Index) > 1 || f.Type != reflect.TypeFor[metav1.ObjectMeta]() {
		return 0, false
	}
	fmt.Sscanf(f.Tag.Get("protobuf"), "bytes,%d,", &number) // Types without messages have no tag.
	return number, true
}

// keepsAsked reports whether c keeps the fields of asked.
func (c *cut) keepsAsked() bool {
	in := c.forField("metadata")
	return !c.drops("metadata") && !in.drops("namespace") && !in.drops("uid") && !in.drops("resourceVersion")
}

// position is where a decoder is in its text.
type position struct{ pos, depth int }

func (d *jsonDecoder) position() position { return position{d.pos, d.depth} }

// goBack resets the decoder to a position before an error.
func (d *jsonDecoder) goBack(to position) {
	d.pos, d.depth = to.pos, to.depth
	d.err, d.path = nil, d.path[:0]
}
