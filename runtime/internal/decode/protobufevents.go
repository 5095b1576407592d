package decode

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
)

// frameHeader is what begins a frame of a watch: the length of the event that
// follows, big-endian.
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
	if n > maxEvent {
		return event, errTooLarge
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
		return event, e.failed(fmt.Errorf("got invalid watch event type: %v", event.Type))
	}
	text, ok := bytes.CutPrefix(text, prefix)
	if !ok {
		return event, e.failed(errNoPrefix)
	}
	if text, err = e.parts.unknown(text); err != nil {
		return event, e.failed(err)
	}
	if err := e.protobufObject(&event, text); err != nil {
		return event, e.failed(err)
	}
	event.Size = frameHeader + int(n)
	e.in.pos += event.Size
	e.complete++
	return event, nil
}

// protobufObject decodes what is of the kind that e.parts says.
func (e *Events) protobufObject(event *Event, text []byte) (err error) {
	kind, version := e.parts.kind, e.parts.apiVersion
	if event.Type == watch.Error && e.isStatus(kind, version) {
		event.Status = &metav1.Status{TypeMeta: metav1.TypeMeta{Kind: kind, APIVersion: version}}
		return unmarshal(event.Status, text)
	}
	event.Object, err = e.fromProtobuf(text)
	if typed, ok := any(event.Object).(runtime.Object); ok && err == nil {
		typed.GetObjectKind().SetGroupVersionKind(schema.FromAPIVersionAndKind(version, kind))
	}
	return err
}

// parts are the texts of an event beside its object.
type parts struct{ eventType, apiVersion, kind string }

// event takes a metav1.WatchEvent apart, and returns the content of its object, a
// runtime.RawExtension. What encoders write is cut, all else left to the type.
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

// unknown does the same with a runtime.Unknown, and returns its content.
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

// keep sets a string to what it nearly always is already.
func keep(s *string, content []byte) {
	if *s != string(content) {
		*s = string(content)
	}
}

// cutOff makes an end inside of an event one that its reader knows.
func cutOff(err error) error {
	if broken, ok := err.(*Error); ok && broken.Err == io.ErrUnexpectedEOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

func isEventType(t watch.EventType) bool {
	switch t {
	case watch.Added, watch.Modified, watch.Deleted, watch.Bookmark, watch.Error:
		return true
	}
	return false
}
