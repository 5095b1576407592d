package decode

import (
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"sync"
)

// Decoder decodes objects of one type.
//
// A Decoder keeps what it learnt: how the type is built, in which order its
// fields come, and which strings repeat. So whoever lists a collection and then
// watches it does so with one Decoder, and the objects of both share strings.
// What it keeps is bounded, and doesn't depend on how much it has decoded: some
// KB for small collections, at most 2 MB beside the strings that objects in use
// still have.
//
// It is safe for concurrent use; its streams take turns.
type Decoder struct {
	mu    sync.Mutex
	json  jsonDecoder
	proto protoDecoder
	typ   reflect.Type
	cut   *cut
}

// New returns a decoder of objects of type t. It panics if t is no pointer.
func New(t reflect.Type, opts Options) *Decoder {
	if t.Kind() != reflect.Pointer {
		panic(fmt.Sprintf("decode: %v is no pointer", t))
	}
	d := &Decoder{typ: t.Elem()}
	d.cut = opts.cut()
	d.proto = protoDecoder{json: &d.json, messages: map[planKey]*messagePlan{}}
	d.json.plans = plans{}
	d.json.shareValues = opts.ShareValues
	d.json.plainString = plan{op: opString, typ: reflect.TypeFor[string]()}
	return d
}

// Options choose what of an object is kept, and what objects share beside
// strings. The zero value keeps everything and shares nothing else.
type Options struct {
	// Drop are fields that are skipped, so that they cost next to nothing: JSON
	// names joined by dots, as in metadata.managedFields or spec.template. The
	// elements of slices and maps have no step of their own: spec.containers.env
	// drops env of every container. A name that no type has drops nothing.
	Drop []string
	// MetadataOnly drops everything but kind, apiVersion and metadata.
	MetadataOnly bool
	// ShareValues gives fields that have the same text in several objects the
	// same maps, slices and pointers, which saves the most where objects are
	// copies of each other. Whoever then changes an object without copying it
	// first changes others, too. A decoder keeps the values to share, with at
	// most 2 MB of text.
	ShareValues bool
}

// cut says which fields of a struct are dropped. A nil cut drops nothing.
type cut struct {
	// whole drops the field that the cut is for, only all of its fields but
	// those.
	whole  bool
	only   map[string]bool
	fields map[string]*cut
}

func (o Options) cut() *cut {
	if len(o.Drop) == 0 && !o.MetadataOnly {
		return nil
	}
	root := &cut{}
	if o.MetadataOnly {
		root.only = map[string]bool{"kind": true, "apiVersion": true, "metadata": true}
	}
	for _, path := range o.Drop {
		at := root
		for name := range strings.SplitSeq(path, ".") {
			if at.fields == nil {
				at.fields = map[string]*cut{}
			}
			if at.fields[name] == nil {
				at.fields[name] = &cut{}
			}
			at = at.fields[name]
		}
		at.whole = true
	}
	return root
}

// of is the cut for a field.
func (c *cut) of(name string) *cut {
	if c == nil {
		return nil
	}
	return c.fields[name]
}

// drops says whether a field is dropped.
func (c *cut) drops(name string) bool {
	if c == nil {
		return false
	}
	return c.only != nil && !c.only[name] || c.fields[name] != nil && c.fields[name].whole
}

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

// Unmarshal decodes data, which is one object and nothing else.
func (d *Decoder) Unmarshal(data []byte) (object any, err error) {
	r := reader{Decoder: d, in: inputOf(data)}
	if _, err = r.peek(); err != nil {
		return object, err
	}
	err = r.try(func(d *jsonDecoder) (ok bool) {
		object, ok = r.object(d)
		return ok
	})
	if err == nil {
		err = r.end()
	}
	return object, err
}

// reader reads one stream for a decoder.
type reader struct {
	*Decoder
	in *input
	// complete counts the items before the place of an error.
	complete int
}

// try decodes at in's position, as often as it takes for all of it to be there.
func (r *reader) try(decode func(*jsonDecoder) bool) error {
	for framed := false; ; {
		err := r.attempt(decode)
		if !errors.Is(err, errMore) {
			return err
		}
		// Begun again for every bit that arrives, a large value would take
		// time that grows with its square.
		if !framed && r.in.frame() {
			framed = true
			continue
		}
		r.in.fill()
		if r.in.err != nil && r.in.err != io.EOF {
			return r.in.err
		}
	}
}

// attempt decodes what is there, and consumes it if that worked.
func (r *reader) attempt(decode func(*jsonDecoder) bool) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	d := &r.json
	d.begin(r.in)
	defer func() { d.data = nil }()
	if !decode(d) {
		if d.err == errMore {
			return errMore
		}
		return &Error{Offset: r.in.before + int64(d.pos), Item: r.complete, Path: d.location(), Err: d.err}
	}
	r.in.pos = d.pos
	return nil
}

// failed is an error at in's position.
func (r *reader) failed(err error) error {
	return &Error{Offset: r.in.offset(), Item: r.complete, Err: err}
}

// peek returns the byte that follows white space. The end of the stream is an
// error here.
func (r *reader) peek() (byte, error) {
	c, ok := r.in.peek()
	if ok {
		return c, nil
	}
	if r.in.err == io.EOF {
		return 0, r.failed(io.ErrUnexpectedEOF)
	}
	return 0, r.in.err
}

// expect consumes c.
func (r *reader) expect(c byte, where string) error {
	found, err := r.peek()
	if err != nil {
		return err
	}
	if found != c {
		return r.failed(fmt.Errorf("invalid character %q %s", found, where))
	}
	r.in.pos++
	return nil
}

// object decodes an object at d's position. It must be given up if ok is false.
func (r *reader) object(d *jsonDecoder) (object any, ok bool) {
	v := reflect.New(r.typ)
	return v.Interface(), d.value(d.plans.without(r.cut, r.typ), v.UnsafePointer())
}

// end makes sure that nothing follows.
func (r *reader) end() error {
	if c, more := r.in.peek(); more {
		return r.failed(fmt.Errorf("invalid character %q after top-level value", c))
	}
	if r.in.err != io.EOF {
		return r.in.err
	}
	return nil
}
