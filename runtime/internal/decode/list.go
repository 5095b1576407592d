package decode

import (
	"errors"
	"io"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ListVisitor receives a list while it is decoded. If one of its functions returns an error,
// the list ends and List returns that error.
type ListVisitor struct {
	// Type, if not nil, is called once with the kind and version of the list: before the
	// first item if they come first, otherwise at the end. Servers write them first in lists
	// of built-in types, and the kind after the items in lists of custom resources.
	Type func(metav1.TypeMeta) error
	// Before, if not nil, is called before an item is decoded, when the beginning of its
	// text has arrived. It may block; meanwhile nothing is read.
	Before func() error
	// Decoded, if not nil, is called before Item with the size of the item's text in
	// bytes, except for items from the cache.
	Decoded func(size int)
	// Item is called with each item, which belongs to the receiver unless it is from the cache.
	Item func(any) error
	Cached
}

var errItemsTwice = errors.New("the list has its items twice")

// List decodes a list up to the end of the stream. The items that it hands over are complete,
// but the list isn't known to be valid until List returns. A list of unstructured objects must
// have a kind.
//
// An error in the list is an [Error]. An error of from is returned unchanged.
func (d *Decoder) List(from io.Reader, visitor ListVisitor) (metav1.ListMeta, error) {
	l := list{reader: reader{Decoder: d, in: newInput(from, d.maxObject)}, visitor: visitor}
	err := l.read()
	return l.meta, err
}

// list reads one list in JSON:
//
//	{"kind":"PodList","apiVersion":"v1","metadata":{...},"items":[{...},{...}]}
//
// Each name, each value and each item is decoded and consumed separately. The names may come in
// any order, but the kind is checked before the first item only if it comes first.
type list struct {
	reader
	visitor         ListVisitor
	typ             metav1.TypeMeta
	meta            metav1.ListMeta
	typed, hasItems bool
	// untyped is for a list of unstructured objects.
	untyped unstructuredList
}

// read reads the whole list.
func (l *list) read() error {
	if err := l.expect('{', "looking for beginning of a list"); err != nil {
		return err
	}
	l.depth = 1
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
	if l.unstructured {
		if err := l.endUnstructured(); err != nil {
			return err
		}
	}
	return l.checkEOF()
}

// member reads a name and its value. Each is one attempt: a list isn't decoded as one value.
func (l *list) member() error {
	var name string
	err := l.try(func(d *jsonDecoder) (ok bool) {
		name, ok = d.key()
		return ok
	})
	if err != nil {
		return err
	}
	// The value may not have arrived yet.
	if _, err := l.peek(); err != nil {
		return err
	}
	switch {
	case name == "items":
		return l.items()
	case l.unstructured:
		return l.unstructuredMember(name)
	case name == "kind":
		return l.try(func(d *jsonDecoder) bool { return d.string(&d.plainString, &l.typ.Kind) })
	case name == "apiVersion":
		return l.try(func(d *jsonDecoder) bool { return d.string(&d.plainString, &l.typ.APIVersion) })
	case name == "metadata":
		return l.try(func(d *jsonDecoder) bool { return decodeInto(d, &l.meta) })
	}
	return l.try((*jsonDecoder).skip)
}

// sayType calls the visitor's Type, once.
func (l *list) sayType() error {
	if l.typed || l.visitor.Type == nil {
		return nil
	}
	l.typed = true
	return l.visitor.Type(l.typ)
}

// items reads the items one by one. Each is consumed when it was handed over.
func (l *list) items() error {
	c, err := l.peek()
	if err != nil {
		return err
	}
	if l.hasItems {
		// Kubernetes' decoder would decode these onto the first ones, which have been
		// handed over already.
		return l.failed(errItemsTwice)
	}
	if c == 'n' {
		return l.try(func(d *jsonDecoder) bool { return d.literal("null") })
	}
	l.hasItems = true
	if err := l.expect('[', "looking for beginning of a list's items"); err != nil {
		return err
	}
	l.depth = 2
	if l.typ.Kind != "" && (!l.unstructured || l.untyped.hasVersion) {
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
	l.depth = 1
	return nil
}

// item decodes one item, or finds it in the cache, and hands it over.
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
		return l.identified(err)
	}
	if item.skipped {
		l.complete++
		return nil
	}
	size := 0
	if !item.fromCache {
		size = int(l.in.offset() - start)
	}
	return l.handOver(item.object, size)
}

// before calls the visitor's Before. The window keeps its content meanwhile.
func (l *list) before() error {
	if l.visitor.Before == nil {
		return nil
	}
	return l.visitor.Before()
}

// handOver hands over an item whose text has size bytes, 0 for one from the cache.
func (l *list) handOver(item any, size int) error {
	l.complete++
	if size > 0 && l.visitor.Decoded != nil {
		l.visitor.Decoded(size)
	}
	if l.unstructured && l.waits(item, size == 0) {
		return nil
	}
	return l.visitor.Item(item)
}
