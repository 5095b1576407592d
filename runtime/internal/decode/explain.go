package decode

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
)

// explain returns the path to what is wrong in a message that the type's own method has refused, and the
// error: err itself, if nothing more is known. It follows [protoDecoder.message].
func (d *protoDecoder) explain(p *messagePlan, text []byte, err error) (path string, _ error) {
	if p.own {
		return "", err
	}
	elements := map[uint64]int{}
	for len(text) > 0 {
		tag, n := uvarint(text)
		if n <= 0 || tag>>3 == 0 || tag > 1<<31 {
			return "", err
		}
		number := tag >> 3
		if number >= uint64(len(p.fields)) || p.fields[number].op == noOp {
			_, _, behind, ok := cutField(text)
			if !ok {
				return "", err
			}
			text = behind
			continue
		}
		f := &p.fields[number]
		step := p.step(number)
		if int(tag&7) != f.wire {
			return step, &TypeError{Found: wireName(int(tag & 7)), Type: f.typ, Err: err}
		}
		_, value, behind, ok := cutField(text)
		if !ok {
			return step, err
		}
		text = behind
		if f.op == messagesOp || f.op == stringsOp {
			step += "[" + strconv.Itoa(elements[number]) + "]"
			elements[number]++
		}
		if inner, found := d.explainField(f, value, err); found != nil {
			return step + inner, found
		}
	}
	return "", err
}

// explainField is explain for the value of a field, with the path from the field. It returns no error for a
// value that isn't wrong.
func (d *protoDecoder) explainField(f *messageField, value []byte, err error) (path string, _ error) {
	elem := f.elem
	switch f.op {
	case messageOp, messagePointerOp, messagesOp:
	case stringMapOp, mapOp:
		var parts [2][]byte
		if !cutFields(value, parts[:]) {
			return "", err
		}
		if value = parts[1]; elem == nil {
			return "", nil
		}
		path = "[" + strconv.Quote(cutName(string(parts[0]))) + "]"
	default:
		return "", nil
	}
	if unmarshal(reflect.New(elem.typ).Interface().(message), value) == nil {
		return "", nil
	}
	inner, err := d.explain(elem, value, err)
	return path + inner, err
}

// step returns the step of a path for a field, by the name that it has in JSON.
func (p *messagePlan) step(number uint64) string {
	for sf := range p.typ.Fields() {
		_, rest, _ := strings.Cut(sf.Tag.Get("protobuf"), ",")
		if digits, _, _ := strings.Cut(rest, ","); digits == strconv.FormatUint(number, 10) {
			name, _, _ := strings.Cut(sf.Tag.Get("json"), ",")
			return "." + cmp.Or(name, sf.Name)
		}
	}
	return fmt.Sprintf(".%d", number)
}

// wireName returns what a wire type stands for.
func wireName(wire int) string {
	switch wire {
	case wireVarint:
		return "varint"
	case wireBytes:
		return "bytes"
	case wire64, wire32:
		return "fixed-size number"
	}
	return "group"
}

// brokenMessage returns the error for an object in protobuf that the type's own method has refused.
func (r *reader) brokenMessage(text []byte, err error) error {
	broken := r.named(r.failed(err), text).(*Error)
	if errors.Is(err, ErrTooLarge) || errors.Is(err, ErrTooDeep) {
		return broken
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	broken.Path, broken.Err = r.proto.explain(r.proto.messageOf(nil, r.typ), text, err)
	broken.Path = strings.TrimPrefix(broken.Path, ".")
	return broken
}

// named adds to an error in a message, of which text has arrived, whose message that is.
func (r *reader) named(err error, text []byte) error {
	broken, ok := err.(*Error)
	if number, has := metadataOf(r.typ); ok && has {
		broken.Namespace, broken.Name = namesIn(text, uint64(number))
	}
	return err
}

// namesIn returns the namespace and the name in a message whose metadata has a number, as far as they are
// known.
func namesIn(text []byte, metadata uint64) (namespace, name string) {
	for len(text) > 0 {
		number, value, behind, ok := cutField(text)
		if !ok {
			return "", ""
		}
		if number == metadata && value != nil {
			var m messageMetadata
			m.read(value) // As far as it can be read.
			return nameFrom(m[metadataNamespace]), nameFrom(m[metadataName])
		}
		text = behind
	}
	return "", ""
}

func nameFrom(text []byte) string {
	if !isName(string(text)) {
		return ""
	}
	return string(text)
}
