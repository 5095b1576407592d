package decode

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
)

// Error is an error in the content of a stream, with its place.
type Error struct {
	// Offset is the number of bytes of the (uncompressed) body before the error, or
	// before the value that contains it.
	Offset int64
	// Item is the number of complete items or events before the error.
	Item int
	// Namespace and Name are those of the item or of the event's object, as far as they are known.
	Namespace, Name string
	// Path leads to the value in the item, such as spec.containers[1].name. It is
	// empty for the item itself.
	Path string
	Err  error
}

// Error describes what is wrong, and where.
func (e *Error) Error() string {
	at := fmt.Sprintf("after %d items, at byte %d", e.Item, e.Offset)
	if e.Name != "" {
		at += ", in " + strings.TrimPrefix(e.Namespace+"/"+e.Name, "/")
	}
	if e.Path != "" {
		at += ", in " + e.Path
	}
	return fmt.Sprintf("%v (%s)", e.Err, at)
}

func (e *Error) Unwrap() error { return e.Err }

// TypeError is the error for a value that a Go type can't hold. Its text doesn't quote the value, which may
// be a secret. Err, the error of a method of the type, may quote it, and may be nil.
type TypeError struct {
	// Found is the kind of the value in JSON, or the wire type in protobuf.
	Found string
	Type  reflect.Type
	Err   error
}

func (e *TypeError) Error() string {
	return fmt.Sprintf("cannot unmarshal %s into a Go value of type %v", e.Found, e.Type)
}

func (e *TypeError) Unwrap() error { return e.Err }

// kindOf returns the kind of the JSON value that begins with a byte.
func kindOf(first byte) string {
	switch first {
	case '"':
		return "string"
	case '{':
		return "object"
	case '[':
		return "array"
	case 't', 'f':
		return "bool"
	case 'n':
		return "null"
	}
	return "number"
}

// refused records that a method of a type, or Kubernetes' decoder, refused a value. It returns false.
func (d *jsonDecoder) refused(t reflect.Type, text []byte, err error) bool {
	refused := &TypeError{Found: kindOf(text[0]), Type: t, Err: err}
	if inner, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && inner.Field != "" && inner.Type != nil {
		refused.Found, _, _ = strings.Cut(inner.Value, " ") // What follows may be the value.
		refused.Type = inner.Type
		d.fail(refused)
		return d.in("." + inner.Field)
	}
	return d.fail(refused)
}

// identified adds to an error in the value at in's position the name of the object. within are the names that
// lead to the object from there.
func (r *reader) identified(err error, within ...string) error {
	broken, ok := err.(*Error)
	if !ok {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	d := &r.json
	defer d.release()
	broken.Namespace = d.textAt(r.in, append(within, "metadata", "namespace"))
	broken.Name = d.textAt(r.in, append(within, "metadata", "name"))
	return err
}

// textAt returns the string that names lead to from in's position, "" if there is none or if it doesn't look
// like the name of an object.
func (d *jsonDecoder) textAt(in *input, names []string) string {
	d.resetTo(in)
	for _, name := range names {
		if !d.find(name) {
			return ""
		}
	}
	if d.data[d.pos] != '"' {
		return ""
	}
	text, _ := d.bytes()
	return nameFrom(text)
}

// find moves from an object to the value of its member of that name. It returns false if there is none, or an
// error before it.
func (d *jsonDecoder) find(name string) bool {
	if d.next() != '{' {
		return false
	}
	empty, ok := d.open('}')
	for more := ok && !empty; more; {
		if d.data[d.pos] != '"' {
			return false
		}
		found, ok := d.bytes()
		wanted := string(found) == name
		if !ok || !d.colon() {
			return false
		}
		if wanted {
			return true
		}
		if !d.skip() {
			return false
		}
		if more, ok = d.another('}', ""); !ok {
			return false
		}
	}
	return false
}

// isName reports whether a text may be the name of an object. Servers accept no others, but a response may
// have anything in their place.
func isName(text string) bool {
	const longest = 253
	return text != "" && len(text) <= longest && strings.Trim(text, plainLetters+".:@") == ""
}
