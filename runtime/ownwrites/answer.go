package ownwrites

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// answer is what the body of a response says about the object that was written.
type answer struct {
	// kind is that of the answer, if it was read: "Status" means that the other fields are of a Status.
	kind            string
	name, namespace string
	uid, detailsUID string
	version         string
	deleting        bool
	// graced means that the object is deleted some seconds later, finalizers that it has some.
	graced, finalizers bool
	labels             map[string]string
	// whole means that the end of the text was read.
	whole bool
}

func (a *answer) set(f field, value string) {
	switch f {
	case nameField:
		a.name = value
	case namespaceField:
		a.namespace = value
	case uidField:
		a.uid = value
	case versionField:
		a.version = value
	case deletionField:
		a.deleting = value != ""
	}
}

// isIdentified reports whether it is known which version of which object was written.
func (a *answer) isIdentified() bool {
	return a.version != "" && a.uid != "" && a.name != "" && a.kind != "" && a.kind != "Status"
}

// isRemoval reports whether the answer is that of an update that has removed the last finalizer of an object
// that was being deleted: the server has removed the object, see ShouldDeleteDuringUpdate of its package
// registry.
func (a *answer) isRemoval() bool {
	return a.deleting && !a.graced && !a.finalizers && a.kind != "Status"
}

// scanner finds the metadata in a body that arrives in pieces.
type scanner interface {
	// write returns true once it needs no more.
	write(p []byte, a *answer) (over bool)
}

// body is the body of a response: it shows what its reader reads to a scanner, and notes the write once the
// metadata was read, or that the answer is lost if an error ended the body before.
type body struct {
	io.ReadCloser
	tracker *Tracker
	run     run
	write   *write
	scanner scanner
	json    jsonScan // the scanner, unless the answer is in protobuf
	began   bool
	answer  answer
}

// scans sets the scanner for a content type. It returns false for CBOR and others, which can't be read.
func (b *body) scans(header http.Header) bool {
	if header.Get("Content-Encoding") != "" {
		return false
	}
	mediaType := header.Get("Content-Type")
	if mediaType != runtime.ContentTypeJSON {
		mediaType, _, _ = mime.ParseMediaType(mediaType)
	}
	switch mediaType {
	case runtime.ContentTypeJSON:
		b.json.brief = b.write.brief
		b.scanner = &b.json
	case runtime.ContentTypeProtobuf:
		b.scanner = new(protobufScan)
	}
	return b.scanner != nil
}

var errUnread = errors.New("the body was closed before it was read")

func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.scanner == nil {
		return n, err
	}
	b.began = b.began || n > 0
	switch over := b.scanner.write(p[:n], &b.answer); {
	case over:
		b.end(nil)
	case errors.Is(err, io.EOF) && b.began:
		b.end(io.ErrUnexpectedEOF)
	case errors.Is(err, io.EOF):
		b.end(nil)
	case err != nil:
		b.end(err)
	}
	return n, err
}

func (b *body) Close() error {
	if b.scanner != nil {
		b.end(errUnread)
	}
	return b.ReadCloser.Close()
}

// end ends the scan. A version that was read counts, whatever happens to the rest of the body.
func (b *body) end(err error) {
	b.scanner = nil
	if err != nil && b.answer.version != "" && b.answer.kind != "Status" {
		err, b.answer.finalizers = nil, true // They may follow: without them, it would count as a removal.
	}
	if err != nil {
		b.run.loses()
	} else {
		b.write.complete(&b.answer)
		b.tracker.note(b.run, b.write)
	}
	b.tracker.answered(b.run, b.write)
}

// protobufScan keeps the beginning of a body in Kubernetes' protobuf encoding up to the end of the metadata,
// and all of a Status.
type protobufScan struct{ text []byte }

var protobufMagic = []byte("k8s\x00")

// maxText bounds what is kept of a body: metadata of objects that fit into etcd is smaller.
const maxText = 4 << 20

func (s *protobufScan) write(p []byte, a *answer) (over bool) {
	s.text = append(s.text, p...)
	if len(s.text) < len(protobufMagic) {
		return false
	}
	if !bytes.HasPrefix(s.text, protobufMagic) || len(s.text) > maxText {
		return true
	}
	// An envelope has the kind, then the object. Of each API type, field 1 is the metadata.
	found := answer{}
	eachField(s.text[len(protobufMagic):], func(number int, value []byte, complete bool) {
		switch number {
		case 1:
			found.kind = stringIn(value, 2)
		case 2:
			eachField(value, func(number int, value []byte, inside bool) {
				switch {
				case number == 1 && inside && found.kind == "Status":
					found.version = stringIn(value, 2)
				case number == 1 && inside:
					found.objectMeta(value)
					over = found.kind != ""
				case number == 5 && inside && found.kind == "Status":
					found.detailsUID = stringIn(value, 6)
				}
			})
			found.whole = complete
		}
	})
	*a = found
	return over || found.whole
}

// objectMeta reads the metadata of an object.
func (a *answer) objectMeta(text []byte) {
	eachField(text, func(number int, value []byte, _ bool) {
		switch number {
		case 1:
			a.name = string(value)
		case 3:
			a.namespace = string(value)
		case 5:
			a.uid = string(value)
		case 6:
			a.version = string(value)
		case 9:
			a.deleting = true
		case 10:
			a.graced = !bytes.Equal(value, []byte{0})
		case 11:
			if a.labels == nil {
				a.labels = map[string]string{}
			}
			a.labels[stringIn(value, 1)] = stringIn(value, 2)
		case 14:
			a.finalizers = true
		}
	})
}

// stringIn returns a field of a message, "" if it isn't there, or is incomplete.
func stringIn(text []byte, wanted int) (value string) {
	eachField(text, func(number int, field []byte, complete bool) {
		if number == wanted && complete {
			value = string(field)
		}
	})
	return value
}

// eachField calls visit with each field of a message that has a length, and with integers as they are sent.
// The last may be incomplete: then value is the beginning of it.
func eachField(text []byte, visit func(number int, value []byte, complete bool)) {
	for len(text) > 0 {
		tag, n := binary.Uvarint(text)
		if n <= 0 {
			return
		}
		text = text[n:]
		var size int
		switch tag & 7 {
		case 0:
			_, size = binary.Uvarint(text)
			if size <= 0 {
				return
			}
			visit(int(tag>>3), text[:size], true)
		case 1:
			size = 8
		case 2:
			length, n := binary.Uvarint(text)
			if n <= 0 {
				return
			}
			text = text[n:]
			complete := length <= uint64(len(text))
			size = int(min(length, uint64(len(text))))
			visit(int(tag>>3), text[:size], complete)
			if !complete {
				return
			}
		case 5:
			size = 4
		default:
			return
		}
		text = text[min(size, len(text)):]
	}
}

// bodyOf returns the body of a request, nil if it can't be read a second time.
func bodyOf(req *http.Request) []byte {
	if req.GetBody == nil {
		return nil
	}
	copied, err := req.GetBody()
	if err != nil {
		return nil
	}
	defer func() { _ = copied.Close() }()
	text, err := io.ReadAll(copied)
	if err != nil {
		return nil
	}
	return text
}

// deleteOptions returns the options in the body of a deletion, as far as they can be read.
func deleteOptions(req *http.Request) (o metav1.DeleteOptions) {
	text := bodyOf(req)
	if !bytes.HasPrefix(text, protobufMagic) {
		_ = json.Unmarshal(text, &o) // Without options the body is empty.
		return o
	}
	var envelope runtime.Unknown
	if envelope.Unmarshal(text[len(protobufMagic):]) != nil || o.Unmarshal(envelope.Raw) != nil {
		return metav1.DeleteOptions{}
	}
	return o
}
