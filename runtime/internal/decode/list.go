package decode

import (
	"errors"
	"io"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ListVisitor receives a list as it is decoded. An error of one of its
// functions ends the list and is returned as it is.
type ListVisitor struct {
	// Type is called once, with the kind and version of the list, before the
	// first item if the list begins with them, as servers write it, and at the
	// end otherwise.
	Type func(metav1.TypeMeta) error
	// Before, if not nil, is called before an item is decoded, when the first of
	// its text is there. It may block: nothing is read meanwhile.
	Before func() error
	// Decoded, if not nil, is called before Item with the size of the text that
	// the item was decoded from, in bytes. It isn't for items that were cached.
	Decoded func(size int)
	// Item is called for each item. The item belongs to the receiver.
	Item func(any) error
	Cached
}

var errItemsTwice = errors.New("the list has its items twice")

// List decodes a list, to the end of the stream. Items that it has handed over
// were decoded completely; the list isn't known to be valid before List returns.
//
// The error is an [Error] for what is wrong with the list, and what from
// returned if it can't be read.
func (d *Decoder) List(from io.Reader, visitor ListVisitor) (metav1.ListMeta, error) {
	l := list{reader: reader{Decoder: d, in: newInput(from)}, visitor: visitor}
	err := l.read()
	return l.meta, err
}

// list reads one list.
type list struct {
	reader
	visitor         ListVisitor
	typ             metav1.TypeMeta
	meta            metav1.ListMeta
	typed, hasItems bool
}

func (l *list) read() error {
	if err := l.expect('{', "looking for beginning of a list"); err != nil {
		return err
	}
	for first := true; ; first = false {
		c, err := l.peek()
		if err != nil {
			return err
		}
		if c == '}' && first {
			break
		}
		if err := l.member(); err != nil {
			return err
		}
		if c, err = l.peek(); err != nil {
			return err
		}
		if c == '}' {
			break
		}
		if err := l.expect(',', "after object key:value pair"); err != nil {
			return err
		}
	}
	l.in.pos++
	if err := l.sayType(); err != nil {
		return err
	}
	return l.end()
}

// member reads a name and its value.
func (l *list) member() error {
	var name string
	err := l.try(func(d *jsonDecoder) (ok bool) {
		name, ok = d.key()
		return ok
	})
	if err != nil {
		return err
	}
	switch name {
	case "kind":
		return l.try(func(d *jsonDecoder) bool { return d.string(&d.plainString, &l.typ.Kind) })
	case "apiVersion":
		return l.try(func(d *jsonDecoder) bool { return d.string(&d.plainString, &l.typ.APIVersion) })
	case "metadata":
		return l.try(func(d *jsonDecoder) bool { return decodeInto(d, &l.meta) })
	case "items":
		return l.items()
	}
	return l.try((*jsonDecoder).skip)
}

func (l *list) sayType() error {
	if l.typed || l.visitor.Type == nil {
		return nil
	}
	l.typed = true
	return l.visitor.Type(l.typ)
}

func (l *list) items() error {
	c, err := l.peek()
	if err != nil {
		return err
	}
	if c == 'n' {
		return l.try(func(d *jsonDecoder) bool { return d.literal("null") })
	}
	if l.hasItems {
		// Kubernetes' decoder would decode these onto the others, which are
		// gone already.
		return l.failed(errItemsTwice)
	}
	l.hasItems = true
	if err := l.expect('[', "looking for beginning of a list's items"); err != nil {
		return err
	}
	if l.typ.Kind != "" {
		if err := l.sayType(); err != nil {
			return err
		}
	}
	for first := true; ; first = false {
		if c, err = l.peek(); err != nil {
			return err
		}
		if c == ']' && first {
			break
		}
		if err := l.item(); err != nil {
			return err
		}
		if c, err = l.peek(); err != nil {
			return err
		}
		if c == ']' {
			break
		}
		if err := l.expect(',', "after array element"); err != nil {
			return err
		}
	}
	l.in.pos++
	return nil
}

func (l *list) item() error {
	if err := l.before(); err != nil {
		return err
	}
	start := l.in.offset()
	var item found
	err := l.try(func(d *jsonDecoder) (ok bool) {
		item, ok = l.visitor.object(&l.reader, d, ofItem)
		return ok
	})
	if err != nil {
		return err
	}
	size := 0
	if !item.known {
		size = int(l.in.offset() - start)
	}
	return l.handOver(item.object, size)
}

func (l *list) before() error {
	if l.visitor.Before == nil {
		return nil
	}
	return l.visitor.Before()
}

// handOver hands over an item that was decoded from so many bytes, from none if
// it was cached.
func (l *list) handOver(item any, size int) error {
	l.complete++
	if size > 0 && l.visitor.Decoded != nil {
		l.visitor.Decoded(size)
	}
	return l.visitor.Item(item)
}
