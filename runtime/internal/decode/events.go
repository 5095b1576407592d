package decode

import (
	"errors"
	"io"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
)

// Event is one event of a watch.
type Event struct {
	Type watch.EventType
	// Object is the event's object, unless that is a Status.
	Object any
	// Status is the object of an Error event, if it is a Status.
	Status *metav1.Status
	// FromCache means that Object is from the cache. Version is its resourceVersion then.
	FromCache bool
	Version   string
	// Skipped means that the object isn't wanted: Object is nil, and Version its resourceVersion.
	Skipped bool
	// InitialEventsEnd is set for the bookmark that ends the initial events of a watch-list, also if its
	// annotations are dropped.
	InitialEventsEnd bool
	// Written is when the object was last written, by the newest time in its metadata.managedFields, in seconds
	// since 1970. It is 0 if there is none, or if times aren't read.
	Written int64
	// Size is the size of the event's text in bytes.
	Size int
}

// Events is a stream of events. It is for one goroutine. In JSON the stream is a sequence of
// values, with or without white space between them:
//
//	{"type":"ADDED","object":{...}}
//	{"type":"BOOKMARK","object":{...}}
type Events struct {
	reader
	event Event
	// cached is where to find objects that are added.
	cached Cached
	// wanted is [Cached.Wanted].
	wanted   func(namespace, uid string) bool
	protobuf bool
	// parts are those of the last event in protobuf.
	parts parts
	// readsTimes means that Written of events is set. times are those of the last event, here because a local
	// variable would be allocated for each.
	readsTimes bool
	times      newest
}

var (
	errNoObject = errors.New("an event without an object")
	// The error doesn't quote the type: the server may send anything.
	errEventType = errors.New("got invalid watch event type")
)

// Events returns the events of a watch in JSON.
func (d *Decoder) Events(from io.Reader) *Events {
	return &Events{reader: reader{Decoder: d, in: newInput(from, d.maxObject)}}
}

// EventsProtobuf returns the events of a watch in protobuf.
func (d *Decoder) EventsProtobuf(from io.Reader) *Events {
	e := &Events{reader: reader{Decoder: d, in: newInput(from, d.maxObject)}, protobuf: true}
	if !d.HasProtobuf() {
		e.in.err = errNoProtobuf
	}
	return e
}

// Begin begins the initial events of a watch-list, whose objects may be in c. End ends them:
// the events that follow are changes, which arrive few at a time. The goroutine that calls
// Next must call both.
func (e *Events) Begin(c Cached) { e.cached = c }

// End ends the initial events.
func (e *Events) End() {
	e.cached = Cached{}
	e.in.shrink()
}

// Want makes events skip the objects for which wanted returns false, but not those of bookmarks and errors.
// Call it before Next.
func (e *Events) Want(wanted func(namespace, uid string) bool) { e.wanted = wanted }

// ReadTimes sets whether Written of events is set, for objects that are added or modified. The goroutine that
// calls Next must call it.
func (e *Events) ReadTimes(read bool) { e.readsTimes = read }

// timesOf returns what the times of an event's object are to be added to, nil if they aren't read.
func (e *Events) timesOf(t watch.EventType) *newest {
	if !e.readsTimes || t != watch.Added && t != watch.Modified {
		return nil
	}
	e.times = 0
	return &e.times
}

// Wait blocks until an event begins to arrive or the stream ends, which Next reports. While a watch is idle,
// its goroutine stands in Wait, which takes little stack: below the frames of Next it takes more than a
// quarter of a stack that has decoded objects, and the garbage collector wouldn't shrink that from 16 to 8
// KB.
func (e *Events) Wait() {
	if !e.protobuf {
		e.in.peek()
	} else if e.in.pos == e.in.end {
		e.in.fill()
	}
}

// Next blocks until a whole event has arrived. It returns io.EOF if the stream ends between
// two events, io.ErrUnexpectedEOF if it ends in one, an error of reading unchanged, and an
// [Error] for text that isn't an event. No event can be read after an error.
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
		return Event{}, cutOff(e.identified(err, "object"))
	}
	e.complete++
	return event, nil
}

// decode decodes one event in JSON. Servers write the type first; if they don't, the object
// is skipped and decoded when the type is known.
func (e *Events) decode(d *jsonDecoder) bool {
	e.event = Event{}
	if d.next() != '{' {
		return d.unexpected("looking for beginning of an event")
	}
	empty, ok := d.open('}')
	// later is the place of an object that comes before the type: how it is decoded depends
	// on the type.
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
			ok = e.body(d)
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
			return false
		}
		d.pos = behind
	}
	if isEventType(e.event.Type) {
		return hasObject || d.fail(errNoObject)
	}
	return d.fail(errEventType)
}

// body decodes the object of an event.
func (e *Events) body(d *jsonDecoder) (ok bool) {
	if e.event.Type == watch.Error {
		// Look at the kind first, then decode the same text again.
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
	if e.event.Type == watch.Bookmark {
		var bookmark struct {
			Metadata struct {
				Annotations map[string]string `json:"annotations"`
			} `json:"metadata"`
		}
		start := d.pos
		if !decodeInto(d, &bookmark) {
			return false
		}
		d.pos = start
		e.event.InitialEventsEnd = endsInitialEvents(bookmark.Metadata.Annotations)
	}
	var c Cached
	if e.event.Type == watch.Added {
		c = e.cached
	}
	if e.wanted != nil && isChange(e.event.Type) {
		c.Wanted = e.wanted
	}
	d.times = e.timesOf(e.event.Type)
	f, ok := c.object(&e.reader, d, ofEvent)
	ok = ok && (f.fromCache || f.skipped || d.checkKind(f.object))
	if d.times != nil && ok && !f.skipped {
		if e.keepsTimes {
			d.times.addObject(f.object)
		}
		e.event.Written = int64(*d.times)
	}
	e.event.Object, e.event.FromCache, e.event.Version = f.object, f.fromCache, f.version
	e.event.Skipped = f.skipped
	return ok
}

// endsInitialEvents reports whether a bookmark has these annotations that ends the initial events.
func endsInitialEvents(annotations map[string]string) bool {
	return annotations[metav1.InitialEventsAnnotationKey] == "true"
}

func isChange(t watch.EventType) bool {
	return t == watch.Added || t == watch.Modified || t == watch.Deleted
}

// isStatus reports whether the object of an error is a Status. The resource's type may have
// that name, too: then only a v1 Status is one.
func (e *Events) isStatus(kind, apiVersion string) bool {
	return kind == "Status" && (apiVersion == "v1" || e.typ.Name() != "Status")
}

// cutOff returns io.ErrUnexpectedEOF for an event that isn't complete, and other errors unchanged.
func cutOff(err error) error {
	if broken, ok := err.(*Error); ok && broken.Err == io.ErrUnexpectedEOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

func isEventType(t watch.EventType) bool {
	return isChange(t) || t == watch.Bookmark || t == watch.Error
}
