package decode

import (
	"errors"
	"io"
	"unsafe"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ListVisitor receives a list as it is decoded. An error of one of its
// functions ends the list and is returned as it is.
type ListVisitor[T any] struct {
	// Type is called once, with the kind and version of the list, before the
	// first item if the list begins with them, as servers write it, and at the
	// end otherwise.
	Type func(metav1.TypeMeta) error
	// Item is called for each item. The item belongs to the receiver.
	Item func(T) error
	// Known, if not nil, is asked before an item in JSON is decoded. An object
	// that it returns is handed over in the item's place, as it is.
	Known func(Identity) (T, bool)
}

// Identity is what tells an object and its state from others.
type Identity struct{ Namespace, Name, ResourceVersion string }

var errItemsTwice = errors.New("the list has its items twice")

// List decodes a list, to the end of the stream. Items that it has handed over
// were decoded completely; the list isn't known to be valid before List returns.
//
// The error is an [Error] for what is wrong with the list, and what from
// returned if it can't be read.
func (d *Decoder[T]) List(from io.Reader, visitor ListVisitor[T]) (metav1.ListMeta, error) {
	l := list[T]{reader: reader[T]{Decoder: d, in: newInput(from)}, visitor: visitor}
	err := l.read()
	return l.meta, err
}

// list reads one list.
type list[T any] struct {
	reader[T]
	visitor         ListVisitor[T]
	typ             metav1.TypeMeta
	meta            metav1.ListMeta
	typed, hasItems bool
}

func (l *list[T]) read() error {
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
func (l *list[T]) member() error {
	var name string
	err := l.try(func(d *decoder) (ok bool) {
		name, ok = d.key()
		return ok
	})
	if err != nil {
		return err
	}
	switch name {
	case "kind":
		return l.try(func(d *decoder) bool { return d.string(&d.plainString, &l.typ.Kind) })
	case "apiVersion":
		return l.try(func(d *decoder) bool { return d.string(&d.plainString, &l.typ.APIVersion) })
	case "metadata":
		return l.try(func(d *decoder) bool { return d.value(d.plans.of(listMetaType), unsafe.Pointer(&l.meta)) })
	case "items":
		return l.items()
	}
	return l.try((*decoder).skip)
}

func (l *list[T]) sayType() error {
	if l.typed || l.visitor.Type == nil {
		return nil
	}
	l.typed = true
	return l.visitor.Type(l.typ)
}

func (l *list[T]) items() error {
	c, err := l.peek()
	if err != nil {
		return err
	}
	if c == 'n' {
		return l.try(func(d *decoder) bool { return d.literal("null") })
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
	if c, err = l.peek(); err != nil {
		return err
	}
	if c == ']' {
		l.in.pos++
		return nil
	}
	for {
		if err := l.item(); err != nil {
			return err
		}
		if c, err = l.peek(); err != nil {
			return err
		}
		if c == ']' {
			l.in.pos++
			return nil
		}
		if err := l.expect(',', "after array element"); err != nil {
			return err
		}
		if _, err := l.peek(); err != nil {
			return err
		}
	}
}

func (l *list[T]) item() error {
	var item T
	err := l.try(func(d *decoder) (ok bool) {
		if l.visitor.Known != nil {
			var known bool
			if item, known, ok = l.known(d); known || !ok {
				return ok
			}
		}
		item, ok = l.object(d)
		return ok
	})
	if err != nil {
		return err
	}
	l.complete++
	return l.visitor.Item(item)
}

// known looks whether the receiver has the item already, and steps over it then.
func (l *list[T]) known(d *decoder) (item T, known, ok bool) {
	start := d.pos
	var id identity
	if !d.value(d.plans.of(identityType), unsafe.Pointer(&id)) {
		return item, false, false
	}
	if item, known = l.visitor.Known(Identity(id.Metadata)); !known {
		d.pos, d.depth = start, 0
	}
	return item, known, true
}

// identity is decoded in place of an object to see whether it is known.
type identity struct {
	Metadata struct {
		Namespace       string `json:"namespace"`
		Name            string `json:"name"`
		ResourceVersion string `json:"resourceVersion"`
	} `json:"metadata"`
}
