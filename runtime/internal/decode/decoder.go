package decode

import (
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"unsafe"
)

// decoder decodes values out of data. It is what all streams of a [Decoder]
// share, one at a time.
type decoder struct {
	// data[pos:end] is to be decoded; padding follows.
	data     []byte
	pos, end int
	// ended says that nothing will follow behind end.
	ended bool
	depth int
	// err is why a function returned false; path is where, innermost last, if
	// it is known.
	err  error
	path []string

	plans    plans
	messages messages
	strings  table
	// values are shared if shareValues is set.
	values      values
	shareValues bool
	// plainString is the plan of strings in slices and maps.
	plainString plan
	// unquoted holds the string that was read last, if it had escapes. pairs
	// and texts hold what is being collected for a map or a slice.
	unquoted []byte
	pairs    []string
	// identity is that of the object that was looked for last.
	identity identity
}

var (
	// errMore says that the data end in the middle of a value.
	errMore    = errors.New("more data needed")
	errTooDeep = errors.New("exceeded max depth")
)

// Error says what is wrong with a stream, and where.
type Error struct {
	// Offset is the number of bytes of the (uncompressed) body before the
	// place of the error, or before the value that it is in.
	Offset int64
	// Item is the number of complete items or events before it.
	Item int
	// Path leads to the value inside of the item, in the form
	// spec.containers[1].name; it is empty for the item itself.
	Path string
	Err  error
}

func (e *Error) Error() string {
	at := fmt.Sprintf("after %d items, at byte %d", e.Item, e.Offset)
	if e.Path != "" {
		at += ", in " + e.Path
	}
	return fmt.Sprintf("%v (%s)", e.Err, at)
}

func (e *Error) Unwrap() error { return e.Err }

// fail records an error. It returns false.
func (d *decoder) fail(err error) bool {
	if d.err == nil {
		d.err = err
	}
	return false
}

// unexpected records that the byte at pos can't stand there: an error of syntax
// unless the data simply end.
func (d *decoder) unexpected(where string) bool {
	if d.pos >= d.end {
		if d.ended {
			return d.fail(io.ErrUnexpectedEOF)
		}
		return d.fail(errMore)
	}
	return d.fail(fmt.Errorf("invalid character %q %s", d.data[d.pos], where))
}

// mismatch records that there is no way to store this kind of value in a t.
func (d *decoder) mismatch(value string, t reflect.Type) bool {
	return d.fail(fmt.Errorf("cannot unmarshal %s into a Go value of type %v", value, t))
}

// in records the step of the path that an error is below.
func (d *decoder) in(step string) bool {
	if d.err != errMore {
		d.path = append(d.path, step)
	}
	return false
}

// location is the path to the last error.
func (d *decoder) location() string {
	var b strings.Builder
	for i := len(d.path) - 1; i >= 0; i-- {
		b.WriteString(d.path[i])
	}
	return strings.TrimPrefix(b.String(), ".")
}

// begin prepares for a value at in's position.
func (d *decoder) begin(in *input) {
	d.data, d.pos, d.end, d.ended = in.data, in.pos, in.end, in.err != nil
	d.depth, d.err, d.path = 0, nil, d.path[:0]
}

// value decodes the value at pos into the memory of p's type at at. Where it
// returns false the memory may be half written.
func (d *decoder) value(p *plan, at unsafe.Pointer) bool {
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
