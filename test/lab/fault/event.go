package fault

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
)

// format is how events are encoded.
type format int

const (
	jsonFormat format = iota
	protobufFormat
)

// formatOf returns the format of a response. It returns false for an unknown one.
func formatOf(header http.Header) (format, bool) {
	mediaType, _, _ := mime.ParseMediaType(header.Get("Content-Type"))
	switch mediaType {
	case "application/json":
		return jsonFormat, true
	case "application/vnd.kubernetes.protobuf":
		return protobufFormat, true
	}
	return 0, false
}

// protobufPrefix comes before each protobuf message except events.
var protobufPrefix = []byte("k8s\x00")

// longestEvent bounds the length that a backend's prefix may announce.
const longestEvent = 64 << 20

// read returns a function that reads one event at a time.
func (f format) read(body io.Reader) func() (event, error) {
	if f == jsonFormat {
		decoder := json.NewDecoder(body)
		return func() (event, error) {
			var raw json.RawMessage
			if err := decoder.Decode(&raw); err != nil {
				return event{}, err
			}
			return event{format: f, wire: append(raw, '\n')}, nil
		}
	}
	return func() (event, error) {
		var prefix [4]byte
		if _, err := io.ReadFull(body, prefix[:]); err != nil {
			return event{}, err
		}
		size := binary.BigEndian.Uint32(prefix[:])
		if size > longestEvent {
			return event{}, fmt.Errorf("the backend announces an event of %d bytes", size)
		}
		wire := make([]byte, 4+size)
		copy(wire, prefix[:])
		if _, err := io.ReadFull(body, wire[4:]); err != nil {
			return event{}, fmt.Errorf("the backend's event is cut: %w", err)
		}
		return event{format: f, wire: wire}, nil
	}
}

// event is an event of a watch, encoded, with its frame.
type event struct {
	format
	wire []byte
}

// make returns an event. object is already encoded in the format, with the prefix if that is protobuf.
func (f format) make(kind string, object []byte) event {
	if f == jsonFormat {
		return event{f, fmt.Appendf(nil, "{\"type\":%q,\"object\":%s}\n", kind, object)}
	}
	message := must((&metav1.WatchEvent{Type: kind, Object: runtime.RawExtension{Raw: object}}).Marshal())
	return event{f, append(binary.BigEndian.AppendUint32(nil, uint32(len(message))), message...)}
}

// failure returns the event that ends a watch with a status.
func (f format) failure(status *metav1.Status) event {
	object := must(json.Marshal(status))
	if f == protobufFormat {
		message := runtime.Unknown{
			TypeMeta: runtime.TypeMeta{APIVersion: status.APIVersion, Kind: status.Kind},
			Raw:      must(status.Marshal()),
		}
		object = append(bytes.Clone(protobufPrefix), must(message.Marshal())...)
	}
	return f.make(string(watch.Error), object)
}

// parse returns the type of the event and its encoded object. The type is empty if the event can't be read.
func (e event) parse() (kind string, object []byte) {
	if e.format == jsonFormat {
		var read struct {
			Type   string
			Object json.RawMessage
		}
		if json.Unmarshal(e.wire, &read) != nil {
			return "", nil
		}
		return read.Type, read.Object
	}
	var read metav1.WatchEvent
	if read.Unmarshal(e.wire[4:]) != nil {
		return "", nil
	}
	return read.Type, read.Object.Raw
}

// meta returns the metadata of the event's object, empty if it can't be read.
func (e event) meta() metav1.ObjectMeta {
	_, object := e.parse()
	var read metav1.PartialObjectMetadata
	if e.format == jsonFormat {
		if json.Unmarshal(object, &read) != nil {
			return metav1.ObjectMeta{}
		}
		return read.ObjectMeta
	}
	var message runtime.Unknown
	if message.Unmarshal(bytes.TrimPrefix(object, protobufPrefix)) != nil || read.Unmarshal(message.Raw) != nil {
		return metav1.ObjectMeta{}
	}
	return read.ObjectMeta
}

// isChange reports whether the event is about an object: ADDED, MODIFIED or DELETED.
func (e event) isChange() bool {
	switch kind, _ := e.parse(); watch.EventType(kind) {
	case watch.Added, watch.Modified, watch.Deleted:
		return true
	}
	return false
}

// isBookmark reports whether the event is a bookmark, and endsInitial whether it ends the initial events.
func (e event) isBookmark() (is, endsInitial bool) {
	if kind, _ := e.parse(); kind != string(watch.Bookmark) {
		return false, false
	}
	return true, e.meta().Annotations[metav1.InitialEventsAnnotationKey] == "true"
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}
