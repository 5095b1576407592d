package decode

import (
	"errors"
	"fmt"
	"io"
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// message is what types with a protobuf encoding have.
type message interface{ Unmarshal([]byte) error }

// unmarshal calls the type's own method. Some were written by hand and panic on
// lengths that no encoder writes: that is an error of the message.
func unmarshal(m message, text []byte) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("proto: %T panicked: %v", m, r)
		}
	}()
	return m.Unmarshal(text)
}

// The field numbers of Kubernetes' messages.
const (
	unknownType, unknownRaw, unknownLast = 1, 2, 4 // runtime.Unknown
	listMetadata, listItems, listLast    = 1, 2, 2 // all lists
)

// prefix begins every message that is no part of another.
var prefix = []byte("k8s\x00")

var (
	errNoPrefix   = errors.New("provided data does not appear to be a protobuf message of Kubernetes")
	errTwoTypes   = errors.New("proto: two types in one message")
	errTwoBodies  = errors.New("proto: two lists in one message")
	errNoProtobuf = errors.New("the type has no protobuf encoding")
)

// HasProtobuf says whether the type has a protobuf encoding.
func (d *Decoder) HasProtobuf() bool {
	return isMessage(d.typ)
}

// ListProtobuf is List for a list in Kubernetes' protobuf encoding, whose
// metadata has the number 1 and whose items have the number 2, as in all lists
// of k8s.io/api. Values aren't shared, strings and what is dropped are as in
// JSON, but that nobody looks whether the content of what is dropped is well-formed.
func (d *Decoder) ListProtobuf(from io.Reader, visitor ListVisitor) (metav1.ListMeta, error) {
	l := protobufList{list: list{reader: reader{Decoder: d, in: newInput(from)}, visitor: visitor}}
	err := l.read()
	if err == nil {
		err = l.sayType()
	}
	return l.meta, err
}

// protobufList reads one list.
type protobufList struct{ list }

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
	// Nothing at all isn't an empty list.
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
			// What comes twice is merged.
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
			err = l.pass(wire, -1)
		}
		if err != nil {
			return err
		}
	}
}

// body reads the list itself.
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
			err = l.pass(wire, end)
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

func (l *protobufList) item(end int64) error {
	if err := l.before(); err != nil {
		return err
	}
	text, err := l.bytes(end)
	if err != nil {
		return err
	}
	item, err := l.fromProtobuf(text)
	if err != nil {
		return l.failed(err)
	}
	return l.handOver(item, len(text))
}

// fromProtobuf decodes an object.
func (d *Decoder) fromProtobuf(text []byte) (object any, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	v := reflect.New(d.typ)
	if d.core.message(d.core.messageOf(d.cut, d.typ), text, v.UnsafePointer()) {
		return v.Interface(), nil
	}
	v = reflect.New(d.typ)
	object = v.Interface()
	if err := unmarshal(any(object).(message), text); err != nil {
		return object, err
	}
	d.core.settle(d.core.plans.without(d.cut, d.typ), v.UnsafePointer())
	return object, nil
}
