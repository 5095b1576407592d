package decode

import (
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"strings"
	"sync"
)

// Decoder decodes objects of one type.
//
// A Decoder keeps the plan of the type and the strings that repeat. List a collection and
// watch it with one Decoder: then the objects of both share strings. The memory that it keeps
// is bounded, however much it decodes: some KB for small collections, and at most 2 MB of
// strings and 2 MB of values that no object uses any more.
//
// It is safe for concurrent use. Its streams take turns, object by object.
type Decoder struct {
	// mu guards json and proto, and is held while one object is decoded, never while
	// a stream is read.
	mu    sync.Mutex
	json  jsonDecoder
	proto protoDecoder
	typ   reflect.Type
	cut   *cut
	// maxObject is the largest size of an object's text.
	maxObject int
	// unstructured means that typ is unstructured.Unstructured.
	unstructured bool
	// keepsAsked means that decoded objects have the fields of asked, metadataFirst that metadata has the
	// number 1 in messages.
	keepsAsked, metadataFirst bool
	// keepsTimes means that decoded objects have their managedFields.
	keepsTimes bool
}

// New returns a decoder of objects of type t. It panics if t isn't a pointer.
func New(t reflect.Type, opts Options) *Decoder {
	if t.Kind() != reflect.Pointer {
		panic(fmt.Sprintf("decode: %v isn't a pointer", t))
	}
	d := &Decoder{typ: t.Elem(), unstructured: t.Elem() == unstructuredType}
	d.cut = opts.cut()
	if d.maxObject = min(opts.MaxObject, math.MaxInt/expansion); d.maxObject <= 0 {
		d.maxObject = defaultMaxObject
	}
	number, hasMetadata := metadataOf(d.typ)
	d.keepsAsked = (d.unstructured || hasMetadata) && d.cut.keepsAsked()
	d.metadataFirst = number == objectMetadata
	d.json.metadata = d.cut.forField("metadata")
	d.keepsTimes = !d.cut.drops("metadata") && !d.json.metadata.drops(managedFields)
	d.proto = protoDecoder{json: &d.json, messages: map[planKey]*messagePlan{}}
	d.json.plans = plans{}
	d.json.shareValues = opts.ShareValues
	d.json.plainString = plan{op: opString, typ: reflect.TypeFor[string]()}
	d.json.uniqueString = plan{op: opString, typ: reflect.TypeFor[string](), unique: true}
	return d
}

// ShareFieldSets makes unstructured objects share the fieldsV1 of their managedFields: maps in which nobody
// looks, and which take a third of an object, the same in most objects of a kind. Call it before anything is
// decoded, and only if nobody may change the objects, not even before they are stored.
func (d *Decoder) ShareFieldSets() { d.json.shareFieldSets = true }

// Options choose the fields to keep, and whether objects share values other than strings. They
// are those of informer.Options, which documents them. In unstructured objects all names
// are steps of the paths to drop, including the keys of maps.
type Options struct {
	Drop         []string
	MetadataOnly bool
	ShareValues  bool
	MaxObject    int
}

const (
	// defaultMaxObject is Options.MaxObject for zero.
	defaultMaxObject = 64 << 20
	// expansion times MaxObject is the limit of an object's memory, without its strings. A few bytes of text
	// can stand for a large struct, so a limit of the text doesn't limit the memory.
	expansion = 4
)

// ErrTooLarge is the error for an object that exceeds Options.MaxObject.
var ErrTooLarge = errors.New("object to decode was longer than maximum allowed size, " +
	"which informer.Options.MaxObject sets")

// cut is the tree of the fields to drop, of one struct. A nil cut drops nothing.
type cut struct {
	// whole drops the whole field that the cut is for.
	whole bool
	// only, if not nil, drops all fields but these.
	only map[string]bool
	// fields are the cuts of the fields that are dropped, or that contain dropped fields.
	fields map[string]*cut
}

// cut returns the tree of the fields to drop, nil for none.
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

// forField is the cut for a field.
func (c *cut) forField(name string) *cut {
	if c == nil {
		return nil
	}
	return c.fields[name]
}

// drops reports whether a field is dropped.
func (c *cut) drops(name string) bool {
	if c == nil {
		return false
	}
	return c.only != nil && !c.only[name] || c.fields[name] != nil && c.fields[name].whole
}

// reader reads one stream for a decoder.
type reader struct {
	*Decoder
	in *input
	// complete counts the items that were decoded.
	complete int
	// depth is the number of objects and arrays that in's position is in.
	depth int
	// inARow is the number of wanted objects since the last unwanted one. namespace is that of the last message.
	inARow    int
	namespace string
}

// try decodes the value at in's position. It reads more until the value has arrived completely.
func (r *reader) try(decode func(*jsonDecoder) bool) error {
	for framed := false; ; {
		err := r.attempt(decode)
		if !errors.Is(err, errMore) {
			return err
		}
		// Most items have arrived completely at the first attempt. With an attempt after
		// each read, a large item would take time that grows with the square of its size. So
		// frame first reads up to its end, looking at each byte once.
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

// attempt decodes the value as far as it has arrived, and consumes it if that succeeds.
// Otherwise it doesn't change in, so that the next attempt starts at the same place.
func (r *reader) attempt(decode func(*jsonDecoder) bool) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	d := &r.json
	d.resetTo(r.in)
	d.depth, d.left = r.depth, expansion*r.maxObject
	defer d.release()
	if !decode(d) {
		if d.err == errMore {
			return errMore
		}
		return &Error{Offset: r.in.before + int64(d.pos), Item: r.complete, Path: d.location(), Err: d.err}
	}
	r.in.pos = d.pos
	return nil
}

// failed returns an Error at in's position.
func (r *reader) failed(err error) error {
	return &Error{Offset: r.in.offset(), Item: r.complete, Err: err}
}

// peek skips white space and returns the next byte, which isn't consumed. The end of the
// stream is an error.
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

// expect consumes c, which must come next. where is for the error.
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

// object decodes an object at d's position. If ok is false the object is half written. It doesn't
// check the kind of an unstructured object.
func (r *reader) object(d *jsonDecoder) (object any, ok bool) {
	if r.unstructured {
		return d.unstructured(r.cut)
	}
	v := reflect.New(r.typ)
	return v.Interface(), d.value(d.plans.without(r.cut, r.typ), v.UnsafePointer())
}

// checkEOF returns an error if anything but white space follows.
func (r *reader) checkEOF() error {
	if c, more := r.in.peek(); more {
		return r.failed(fmt.Errorf("invalid character %q after top-level value", c))
	}
	if r.in.err != io.EOF {
		return r.in.err
	}
	return nil
}
