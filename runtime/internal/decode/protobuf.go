package decode

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	goruntime "runtime"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
)

// message is implemented by pointers to types with an encoding in protobuf.
type message interface{ Unmarshal([]byte) error }

// unmarshal calls the type's own method. Some of these methods are written by hand and panic for lengths
// that no encoder writes: unmarshal returns an error then. It refuses messages that are nested too deep,
// because a stack overflow ends the program.
func unmarshal(m message, text []byte) (err error) {
	if tooDeep(text, maxDepth) {
		return ErrTooDeep
	}
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("proto: %T panicked", m)
			if cause, ok := r.(goruntime.Error); ok { // Other panics may quote the value.
				err = fmt.Errorf("%w: %w", err, cause)
			}
		}
	}()
	return m.Unmarshal(text)
}

// A list in protobuf is a message in a message, behind a prefix of four bytes:
//
//	"k8s\0" runtime.Unknown{
//	    1: TypeMeta{1: apiVersion, 2: kind}
//	    2: the list{
//	        1: ListMeta
//	        2: item, as often as there are items
//	    }
//	}
//
// A watch has frames, each with its length in four bytes. The content of a frame is:
//
//	metav1.WatchEvent{
//	    1: type
//	    2: runtime.RawExtension{1: "k8s\0" runtime.Unknown{1: TypeMeta, 2: the object}}
//	}
//
// Fields of messages may come in any order, and more than once, but encoders write them in this order.
// So items are decoded one by one while the list arrives, and events are cut without copies.

// Numbers of fields in Kubernetes' messages.
const (
	unknownType, unknownRaw, unknownLast = 1, 2, 4 // runtime.Unknown
	listMetadata, listItems, listLast    = 1, 2, 2 // all lists
)

// prefix precedes each list and each object of a watch.
var prefix = []byte("k8s\x00")

var (
	errNoPrefix   = errors.New("provided data does not appear to be a protobuf message of Kubernetes")
	errTwoTypes   = errors.New("proto: two types in one message")
	errTwoBodies  = errors.New("proto: two lists in one message")
	errNoProtobuf = errors.New("the type has no protobuf encoding")
)

// HasProtobuf reports whether the type has an encoding in protobuf.
func (d *Decoder) HasProtobuf() bool {
	return isMessage(d.typ)
}

// fromProtobuf decodes an object, by the plan of its type or, if that fails, by the type's own
// method. times, if not nil, receives the times of its managedFields.
func (d *Decoder) fromProtobuf(text []byte, times *newest) (object any, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.json.times = times
	defer func() { d.json.times = nil }()
	d.json.left = expansion * d.maxObject
	v := reflect.New(d.typ)
	// A plan that leaves messages to the method would drop the times before they are read.
	if p := d.proto.messageOf(d.cut, d.typ); !p.own && d.proto.message(p, text, v.UnsafePointer()) {
		if object = v.Interface(); times != nil && d.keepsTimes {
			times.addObject(object)
		}
		return object, nil
	}
	if d.json.left < 0 {
		return nil, ErrTooLarge
	}
	v = reflect.New(d.typ)
	object = v.Interface()
	if err := unmarshal(any(object).(message), text); err != nil {
		return object, err
	}
	if times != nil {
		*times = 0
		times.addObject(object)
	}
	d.json.normalize(d.json.plans.without(d.cut, d.typ), v.UnsafePointer())
	return object, nil
}

// ListProtobuf is List for a list in protobuf. The list's metadata must have the number 1 and
// its items the number 2, as in all lists of k8s.io/api. Options.ShareValues has no effect. The
// content of dropped fields isn't checked.
func (d *Decoder) ListProtobuf(from io.Reader, visitor ListVisitor) (metav1.ListMeta, error) {
	l := protobufList{list: list{reader: reader{Decoder: d, in: newInput(from, d.maxObject)}, visitor: visitor}}
	err := l.read()
	if err == nil {
		err = l.sayType()
	}
	return l.meta, err
}

// protobufList reads one list.
type protobufList struct{ list }

// read reads a runtime.Unknown, which contains the list.
func (l *protobufList) read() error {
	if !l.HasProtobuf() {
		return errNoProtobuf
	}
	if err := l.need(len(prefix)); err != nil {
		return err
	}
	if string(l.in.data[l.in.pos:l.in.pos+len(prefix)]) != string(prefix) {
		return l.failed(errNoPrefix)
	}
	l.in.pos += len(prefix)
	// A response without any field isn't an empty list, but one that was cut off.
	if err := l.need(1); err != nil {
		return err
	}
	for {
		if l.in.pos == l.in.end && !l.in.fill() {
			if l.in.err == io.EOF {
				return nil
			}
			return l.in.err
		}
		number, wire, err := l.tag(unknownLast)
		switch {
		case err != nil:
		case number == unknownType:
			// A type that comes twice is merged, as everywhere in protobuf.
			typ := runtime.TypeMeta{Kind: l.typ.Kind, APIVersion: l.typ.APIVersion}
			err = l.message(&typ, -1)
			merged := metav1.TypeMeta{Kind: typ.Kind, APIVersion: typ.APIVersion}
			if err == nil && l.typed && merged != l.typ {
				err = l.failed(errTwoTypes)
			}
			l.typ = merged
		case number == unknownRaw:
			err = l.body()
		default:
			err = l.skip(wire, -1)
		}
		if err != nil {
			return err
		}
	}
}

// body reads the list, which is the content of a runtime.Unknown.
func (l *protobufList) body() error {
	n, err := l.length(-1)
	if err != nil {
		return err
	}
	if l.hasItems {
		return l.failed(errTwoBodies)
	}
	l.hasItems = true
	if l.typ.Kind != "" {
		if err := l.sayType(); err != nil {
			return err
		}
	}
	for end := l.in.offset() + int64(n); l.in.offset() < end; {
		number, wire, err := l.tag(listLast)
		switch {
		case err != nil:
		case number == listMetadata:
			err = l.message(&l.meta, end)
		case number == listItems:
			err = l.item(end)
		default:
			err = l.skip(wire, end)
		}
		if err != nil {
			return err
		}
		if l.in.offset() > end {
			return l.failed(errBadLength)
		}
	}
	return nil
}

// item decodes one item and hands it over. Items in protobuf have their length in front, so
// decoding is never tried again. They are never taken from the cache.
func (l *protobufList) item(end int64) error {
	if err := l.before(); err != nil {
		return err
	}
	text, err := l.bytes(end)
	if err != nil {
		return l.named(err, l.in.data[l.in.pos:l.in.end])
	}
	if wanted, _ := l.wantsMessage(text, l.visitor.Wanted); !wanted {
		l.complete++
		return nil
	}
	item, err := l.fromProtobuf(text, nil)
	if err != nil {
		return l.brokenMessage(text, err)
	}
	return l.handOver(item, len(text))
}

// frameHeader is the size of the header of a frame of a watch: the length of the event, big
// endian.
const frameHeader = 4

// nextProtobuf is Next for a stream in protobuf.
func (e *Events) nextProtobuf() (event Event, err error) {
	if e.in.pos == e.in.end && !e.in.fill() {
		return event, e.in.err
	}
	if err := e.need(frameHeader); err != nil {
		return event, cutOff(err)
	}
	n := binary.BigEndian.Uint32(e.in.data[e.in.pos:])
	if n > math.MaxInt32 || !e.in.fits(frameHeader+int(n)) {
		return event, ErrTooLarge
	}
	if err := e.need(frameHeader + int(n)); err != nil {
		return event, cutOff(err)
	}
	frame := e.in.data[e.in.pos+frameHeader : e.in.pos+frameHeader+int(n)]
	text, err := e.parts.event(frame)
	if err != nil {
		return event, e.failed(err)
	}
	event.Type = watch.EventType(e.parts.eventType)
	if !isEventType(event.Type) {
		return event, e.failed(errEventType)
	}
	text, ok := bytes.CutPrefix(text, prefix)
	if !ok {
		return event, e.failed(errNoPrefix)
	}
	if text, err = e.parts.unknown(text); err != nil {
		return event, e.failed(err)
	}
	if err := e.protobufObject(&event, text); err != nil && event.Status == nil {
		return event, e.brokenMessage(text, err)
	} else if err != nil {
		return event, e.failed(err)
	}
	event.Size = frameHeader + int(n)
	e.in.pos += event.Size
	e.complete++
	return event, nil
}

// protobufObject decodes the object of an event, whose kind is in e.parts.
func (e *Events) protobufObject(event *Event, text []byte) (err error) {
	kind, version := e.parts.kind, e.parts.apiVersion
	if event.Type == watch.Error && e.isStatus(kind, version) {
		event.Status = &metav1.Status{TypeMeta: metav1.TypeMeta{Kind: kind, APIVersion: version}}
		return unmarshal(event.Status, text)
	}
	if isChange(event.Type) {
		wanted, resourceVersion := e.wantsMessage(text, e.wanted)
		if !wanted {
			event.Skipped, event.Version = true, resourceVersion
			return nil
		}
	}
	if event.Type == watch.Bookmark {
		var bookmark metav1.PartialObjectMetadata // The metadata is field 1 of each API type.
		event.InitialEventsEnd = unmarshal(&bookmark, text) == nil && endsInitialEvents(bookmark.Annotations)
	}
	times := e.timesOf(event.Type)
	event.Object, err = e.fromProtobuf(text, times)
	if times != nil {
		event.Written = int64(*times)
	}
	if typed, ok := any(event.Object).(runtime.Object); ok && err == nil {
		typed.GetObjectKind().SetGroupVersionKind(schema.FromAPIVersionAndKind(version, kind))
	}
	return err
}

// parts are the strings of an event outside of its object. They are kept from one event to the
// next, because they are nearly always the same.
type parts struct{ eventType, apiVersion, kind string }

// event decodes a metav1.WatchEvent and returns the content of its object, a
// runtime.RawExtension. Messages as encoders write them are cut here, without copies; others
// are left to the type's own method.
func (p *parts) event(frame []byte) (object []byte, err error) {
	var event [2][]byte // type and object
	var extension [1][]byte
	if cutFields(frame, event[:]) && cutFields(event[1], extension[:]) {
		keep(&p.eventType, event[0])
		return extension[0], nil
	}
	var raw metav1.WatchEvent
	err = unmarshal(&raw, frame)
	p.eventType = raw.Type
	return raw.Object.Raw, err
}

// unknown decodes a runtime.Unknown in the same way and returns its content.
func (p *parts) unknown(text []byte) (content []byte, err error) {
	var unknown [unknownLast][]byte
	var typ [2][]byte // apiVersion and kind
	if cutFields(text, unknown[:]) && cutFields(unknown[unknownType-1], typ[:]) {
		keep(&p.apiVersion, typ[0])
		keep(&p.kind, typ[1])
		return unknown[unknownRaw-1], nil
	}
	var raw runtime.Unknown
	err = unmarshal(&raw, text)
	p.apiVersion, p.kind = raw.APIVersion, raw.Kind
	return raw.Raw, err
}

// keep sets a string, and allocates nothing if it has that content.
func keep(s *string, content []byte) {
	if *s != string(content) {
		*s = string(content)
	}
}

// The wire types of protobuf.
const (
	wireVarint, wire64, wireBytes, wire32 = 0, 1, 2, 5

	wireGroup, wireGroupEnd = 3, 4
)

var (
	errBadVarint = errors.New("proto: integer overflow")
	errBadLength = errors.New("proto: a length that leaves its message")
	errGroupEnd  = errors.New("proto: unexpected end of group")
)

// need reads until the window has n bytes.
func (r *reader) need(n int) error {
	for r.in.end-r.in.pos < n {
		if !r.in.fill() {
			if r.in.err == io.EOF {
				return r.failed(io.ErrUnexpectedEOF)
			}
			return r.in.err
		}
	}
	return nil
}

// varint reads an integer.
func (r *reader) varint() (uint64, error) {
	var n uint64
	for shift := 0; shift < 64; shift += 7 {
		if err := r.need(1); err != nil {
			return 0, err
		}
		b := r.in.data[r.in.pos]
		r.in.pos++
		n |= uint64(b&0x7f) << shift
		if b < 0x80 {
			return n, nil
		}
	}
	return 0, r.failed(errBadVarint)
}

// tag reads the tag of a field: its number, of 32 bits, and its wire type. Fields up to the
// number last must have a length.
func (r *reader) tag(last int32) (number int32, wire int, err error) {
	tag, err := r.varint()
	number, wire = int32(tag>>3), int(tag&7)
	switch {
	case err != nil:
	case number <= 0:
		err = r.failed(fmt.Errorf("proto: illegal tag %d", tag))
	case number <= last && wire != wireBytes:
		err = r.failed(fmt.Errorf("proto: wrong wireType = %d for field %d", wire, number))
	}
	return number, wire, err
}

// length reads a length, of at most 31 bits. The value after it must not go beyond the offset
// limit, unless limit is negative.
func (r *reader) length(limit int64) (int, error) {
	n, err := r.varint()
	if err != nil {
		return 0, err
	}
	if n > math.MaxInt32 || limit >= 0 && r.in.offset()+int64(n) > limit {
		return 0, r.failed(errBadLength)
	}
	return int(n), nil
}

// bytes reads a value that has a length. It is valid until the next read.
func (r *reader) bytes(limit int64) ([]byte, error) {
	n, err := r.length(limit)
	if err != nil {
		return nil, err
	}
	if !r.in.fits(n) {
		return nil, r.failed(ErrTooLarge)
	}
	return r.take(n)
}

// take reads n bytes. They are valid until the next read.
func (r *reader) take(n int) ([]byte, error) {
	if err := r.need(n); err != nil {
		return nil, err
	}
	text := r.in.data[r.in.pos : r.in.pos+n : r.in.pos+n]
	r.in.pos += n
	return text, nil
}

// skip skips a field of a wire type. Groups may be nested.
func (r *reader) skip(wire int, limit int64) error {
	for depth := 0; ; {
		switch wire {
		case wireGroup:
			depth++
		case wireGroupEnd:
			if depth--; depth < 0 {
				return r.failed(errGroupEnd)
			}
		default:
			if err := r.skipScalar(wire, limit); err != nil {
				return err
			}
		}
		if depth == 0 {
			return nil
		}
		tag, err := r.varint()
		if err != nil {
			return err
		}
		wire = int(tag & 7)
	}
}

// skipScalar skips a field that isn't a group.
func (r *reader) skipScalar(wire int, limit int64) (err error) {
	switch wire {
	case wireVarint:
		_, err = r.varint()
	case wireBytes:
		_, err = r.bytes(limit)
	case wire64:
		_, err = r.take(8)
	case wire32:
		_, err = r.take(4)
	default:
		err = r.failed(fmt.Errorf("proto: illegal wireType %d", wire))
	}
	return err
}

// message reads a value that has a length into m.
func (r *reader) message(m message, limit int64) error {
	text, err := r.bytes(limit)
	if err != nil {
		return err
	}
	if err := unmarshal(m, text); err != nil {
		return r.failed(err)
	}
	return nil
}
