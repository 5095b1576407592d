package decode

import (
	"reflect"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// The newest time in an object's metadata.managedFields tells when the object was last written. Events read
// it on demand: where objects keep the field, from the object; where they don't, from the text that is
// skipped, at the price of comparing the names of each entry. To decode the field for that would cost more
// than dropping it saves.

// newest is the newest of some times, in seconds since 1970, 0 for none.
type newest int64

const managedFields = "managedFields"

// lastSecond is the last second of the year 9999. No encoder writes later times.
const lastSecond = 253402300799

func (n *newest) addSeconds(seconds int64) {
	if seconds > int64(*n) && seconds <= lastSecond {
		*n = newest(seconds)
	}
}

// addText adds a time as metav1.Time has it in JSON. Other text is ignored.
func (n *newest) addText(text []byte) {
	if len(text) == len("0000-00-00T00:00:00Z") { // as servers write it
		n.addSeconds(parseSeconds(text))
	} else if t, err := time.Parse(time.RFC3339, string(text)); err == nil {
		n.addSeconds(t.Unix())
	}
}

// addEntry adds the time of a metav1.ManagedFieldsEntry in protobuf. Encoders write it behind a few strings
// and before the large fields, which needn't be looked at. Nothing is added for entries of another form.
func (n *newest) addEntry(text []byte) {
	const entryTime, timeSeconds = 4<<3 | wireBytes, 1<<3 | wireVarint
	for len(text) > 2 {
		tag, size, start := text[0], int(text[1]), 2
		if size == 0x80 && text[2] == 1 { // the longest name that a manager may have
			start = 3
		} else if size >= 0x80 {
			return
		}
		if tag&7 != wireBytes || tag >= 0x80 || start+size > len(text) {
			return
		}
		if tag == entryTime {
			if value := text[start : start+size]; size > 1 && value[0] == timeSeconds {
				if seconds, length := uvarint(value[1:]); length > 0 {
					n.addSeconds(int64(seconds))
				}
			}
			return
		}
		text = text[start+size:]
	}
}

// addObject adds the times of a decoded object.
func (n *newest) addObject(object any) {
	switch o := object.(type) {
	case *unstructured.Unstructured: // Its GetManagedFields converts all of them.
		metadata, _ := o.Object["metadata"].(map[string]any)
		entries, _ := metadata[managedFields].([]any)
		for _, e := range entries {
			entry, _ := e.(map[string]any)
			if text, ok := entry["time"].(string); ok {
				n.addText([]byte(text))
			}
		}
	case metav1.ObjectMetaAccessor:
		if metadata, ok := o.GetObjectMeta().(*metav1.ObjectMeta); ok {
			for i := range metadata.ManagedFields {
				if t := metadata.ManagedFields[i].Time; t != nil {
					n.addSeconds(t.Unix())
				}
			}
		}
	}
}

// IsBeingDeleted reports whether a decoded object has a deletion timestamp. Like addObject it calls no getter
// of the interface [metav1.Object]: a program would then have that getter of each of its API types, 60 KB for
// those of client-go. So ok is false for a type with metadata of its own.
func IsBeingDeleted(object any) (deleted, ok bool) {
	switch o := object.(type) {
	case *unstructured.Unstructured:
		return o.GetDeletionTimestamp() != nil, true
	case metav1.ObjectMetaAccessor:
		if metadata, ok := o.GetObjectMeta().(*metav1.ObjectMeta); ok {
			return metadata.DeletionTimestamp != nil, true
		}
	}
	return false, false
}

// isManagedFields reports whether a field of a type, of which c drops fields, is metadata.managedFields. The
// cut is that of one place in an object, so this isn't the metadata of a template.
func (d *jsonDecoder) isManagedFields(t reflect.Type, c *cut, name string) bool {
	return c == d.metadata && name == managedFields && t == reflect.TypeFor[metav1.ObjectMeta]()
}

// readsTimesIn reports whether times are read while a value without the fields that c drops is decoded. Such
// a value must be decoded even if an equal text was, perhaps by an attempt before all of the object had
// arrived.
func (d *jsonDecoder) readsTimesIn(c *cut) bool { return d.times != nil && c != nil && c == d.metadata }

// skipManagedFields skips metadata.managedFields, as skip does, and adds its times if they are read.
func (d *jsonDecoder) skipManagedFields() bool {
	if d.times == nil || d.data[d.pos] != '[' {
		return d.skip()
	}
	empty, ok := d.open(']')
	for more := ok && !empty; more; {
		if d.data[d.pos] == '{' {
			ok = d.skipEntry()
		} else {
			ok = d.skip()
		}
		if !ok {
			return false
		}
		more, ok = d.another(']', "after array element")
	}
	return ok
}

// skipEntry skips an entry of managedFields, and adds its time. Like skip it doesn't call open, another and
// key: they would take longer than what it does with the times.
func (d *jsonDecoder) skipEntry() bool {
	if !d.openBracket() {
		return false
	}
	if d.next() == '}' {
		return d.closeBracket()
	}
	for {
		if d.next() != '"' {
			return d.unexpected("looking for beginning of object key string")
		}
		start := d.pos + 1
		end, plain := d.stringEnd(start)
		if end < 0 {
			return false
		}
		d.pos = end + 1
		isTime := string(d.data[start:end]) == "time"
		if !plain {
			d.unquoted = appendUnquoted(d.unquoted[:0], d.data[start:end])
			isTime = string(d.unquoted) == "time"
		}
		if !d.colon() {
			return false
		}
		if isTime && d.data[d.pos] == '"' {
			text, ok := d.bytes()
			if !ok {
				return false
			}
			d.times.addText(text)
		} else if !d.skip() {
			return false
		}
		switch d.next() {
		case ',':
			d.pos++
		case '}':
			return d.closeBracket()
		default:
			return d.unexpected("after object key:value pair")
		}
	}
}
