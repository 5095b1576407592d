package decode

import (
	"errors"
	"fmt"
	"io"
	"reflect"
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
	mu   sync.Mutex
	core decoder
	typ  reflect.Type
	cut  *cut
}

// New returns a decoder of objects of type t. It panics if t is no pointer.
func New(t reflect.Type, opts Options) *Decoder {
	if t.Kind() != reflect.Pointer {
		panic(fmt.Sprintf("decode: %v is no pointer", t))
	}
	d := &Decoder{typ: t.Elem()}
	d.core.plans = plans{}
	d.core.shareValues = opts.ShareValues
	d.cut = opts.cut()
	d.core.plainString = plan{op: opString, typ: reflect.TypeFor[string]()}
	return d
}

// reader reads one stream for a decoder.
type reader struct {
	*Decoder
	in *input
	// complete counts the items before the place of an error.
	complete int
}

// try decodes at in's position, as often as it takes for all of it to be there.
func (r *reader) try(decode func(*decoder) bool) error {
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
func (r *reader) attempt(decode func(*decoder) bool) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	d := &r.core
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
func (r *reader) object(d *decoder) (object any, ok bool) {
	v := reflect.New(r.typ)
	return v.Interface(), d.value(d.plans.without(r.cut, r.typ), v.UnsafePointer())
}

// Unmarshal decodes data, which is one object and nothing else.
func (d *Decoder) Unmarshal(data []byte) (object any, err error) {
	r := reader{Decoder: d, in: inputOf(data)}
	if _, err = r.peek(); err != nil {
		return object, err
	}
	err = r.try(func(d *decoder) (ok bool) {
		object, ok = r.object(d)
		return ok
	})
	if err == nil {
		err = r.end()
	}
	return object, err
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
