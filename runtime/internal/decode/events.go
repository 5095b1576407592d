package decode

import (
	"errors"
	"fmt"
	"io"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
)

// Event is one event of a watch.
type Event struct {
	Type watch.EventType
	// Object is the object, unless that is a Status.
	Object any
	// Status is the object of an error that says that it is a Status.
	Status *metav1.Status
	// Known says that the object is the cached one, as it is, and Version which
	// it came with.
	Known   bool
	Version string
	// Size is that of the event's text, in bytes.
	Size int
}

// Events is a stream of events, for one reader.
type Events struct {
	reader
	event Event
	// cached has objects that are added handed over as they are cached.
	cached   Cached
	protobuf bool
	// parts are what the last event in protobuf had, whose texts are nearly
	// always those of the next.
	parts parts
}

// maxEvent is the size of the largest event that is read: client-go's limit.
const maxEvent = 16 << 20

var (
	errTooLarge = errors.New("object to decode was longer than maximum allowed size")
	errNoObject = errors.New("an event without an object")
)

// Events reads a watch's body as it arrives.
func (d *Decoder) Events(from io.Reader) *Events {
	e := &Events{reader: reader{Decoder: d, in: newInput(from)}}
	e.in.limit = maxEvent
	return e
}

// EventsProtobuf reads a watch's body in Kubernetes' protobuf encoding.
func (d *Decoder) EventsProtobuf(from io.Reader) *Events {
	e := &Events{reader: reader{Decoder: d, in: newInput(from)}, protobuf: true}
	if !d.HasProtobuf() {
		e.in.err = errNoProtobuf
	}
	return e
}

// Cached says from when on objects that are added may be cached already, as those
// of a list that is streamed as a watch are. It is for the reader of e.
func (e *Events) Cached(c Cached) { e.cached = c }

// Next blocks until a whole event is there. It returns io.EOF at the end of the
// stream between two events, io.ErrUnexpectedEOF inside of one, what reading
// returned if it failed, and an [Error] for what is no event. Nothing more can
// be read after an error.
func (e *Events) Next() (Event, error) {
	if e.protobuf {
		return e.nextProtobuf()
	}
	if _, more := e.in.peek(); !more {
		return Event{}, e.in.err
	}
	start := e.in.offset()
	err := e.try(e.decode)
	event := e.event
	event.Size = int(e.in.offset() - start)
	e.event = Event{}
	if err != nil {
		return Event{}, cutOff(err)
	}
	e.complete++
	return event, nil
}

func (e *Events) decode(d *jsonDecoder) bool {
	e.event = Event{}
	if d.next() != '{' {
		return d.unexpected("looking for beginning of an event")
	}
	empty, ok := d.open('}')
	// later is where the object stands if it came before the type.
	later, typed, hasObject := -1, false, false
	for more := ok && !empty; more; {
		name, ok := d.key()
		if !ok {
			return false
		}
		switch {
		case name == "type":
			typed = true
			ok = d.string(&d.plainString, (*string)(&e.event.Type))
		case name == "object" && typed:
			later, hasObject = -1, true
			ok = e.body(d) || d.in(".object")
		default:
			if name == "object" {
				later, hasObject = d.pos, true
			}
			ok = d.skip()
		}
		if !ok {
			return false
		}
		if more, ok = d.another('}', "after object key:value pair"); !ok {
			return false
		}
	}
	if !ok {
		return false
	}
	if later >= 0 {
		behind := d.pos
		d.pos = later
		if !e.body(d) {
			return d.in(".object")
		}
		d.pos = behind
	}
	if isEventType(e.event.Type) {
		return hasObject || d.fail(errNoObject)
	}
	return d.fail(fmt.Errorf("got invalid watch event type: %v", e.event.Type))
}

// body decodes the event's object.
func (e *Events) body(d *jsonDecoder) (ok bool) {
	if e.event.Type == watch.Error {
		var typ metav1.TypeMeta
		start := d.pos
		if !decodeInto(d, &typ) {
			return false
		}
		d.pos = start
		if e.isStatus(typ.Kind, typ.APIVersion) {
			e.event.Status = &metav1.Status{}
			return decodeInto(d, e.event.Status)
		}
	}
	var c Cached
	if e.event.Type == watch.Added {
		c = e.cached
	}
	f, ok := c.object(&e.reader, d, ofEvent)
	e.event.Object, e.event.Known, e.event.Version = f.object, f.known, f.version
	return ok
}

// isStatus says whether an error's object is a Status, which has that name in
// all versions, unless the objects are called so, too.
func (e *Events) isStatus(kind, apiVersion string) bool {
	return kind == "Status" && (apiVersion == "v1" || e.typ.Name() != "Status")
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
