package decode

import (
	"encoding/binary"
	"fmt"
	"io"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
)

// frameHeader is what begins a frame of a watch: the length of the event that
// follows, big-endian.
const frameHeader = 4

// nextProtobuf is Next for a stream in protobuf.
func (e *Events[T]) nextProtobuf() (event Event[T], err error) {
	if e.in.pos == e.in.end {
		if _, more := e.in.fill(e.in.pos); !more {
			return event, e.in.err
		}
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
	// Both are refilled in place, frame after frame.
	e.raw.Type, e.raw.Object.Raw = "", e.raw.Object.Raw[:0]
	if err := unmarshal(&e.raw, frame); err != nil {
		return event, e.failed(err)
	}
	event.Type = watch.EventType(e.raw.Type)
	if !isEventType(event.Type) {
		return event, e.failed(fmt.Errorf("got invalid watch event type: %v", event.Type))
	}
	text := e.raw.Object.Raw
	if len(text) < len(prefix) || string(text[:len(prefix)]) != string(prefix) {
		return event, e.failed(errNoPrefix)
	}
	e.unknown = runtime.Unknown{Raw: e.unknown.Raw[:0]}
	if err := unmarshal(&e.unknown, text[len(prefix):]); err != nil {
		return event, e.failed(err)
	}
	if err := e.protobufObject(&event); err != nil {
		return event, e.failed(err)
	}
	event.Size = frameHeader + int(n)
	e.in.pos += event.Size
	e.complete++
	return event, nil
}

// protobufObject decodes what e.unknown holds.
func (e *Events[T]) protobufObject(event *Event[T]) (err error) {
	kind, version := e.unknown.Kind, e.unknown.APIVersion
	if event.Type == watch.Error && e.isStatus(kind, version) {
		event.Status = &metav1.Status{TypeMeta: metav1.TypeMeta{Kind: kind, APIVersion: version}}
		return unmarshal(event.Status, e.unknown.Raw)
	}
	event.Object, err = e.fromProtobuf(e.unknown.Raw)
	if typed, ok := any(event.Object).(runtime.Object); ok && err == nil {
		typed.GetObjectKind().SetGroupVersionKind(e.unknown.GroupVersionKind())
	}
	return err
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
