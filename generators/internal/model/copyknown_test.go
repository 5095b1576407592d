package model

import (
	"context"
	"testing"
)

// TestKnownCopies compares the known types with their declarations.
func TestKnownCopies(t *testing.T) {
	s := newSession(context.Background(), Config{})
	c := copyPlanner{session: s, shapes: newShapes(s.sources), methods: map[*source]map[string]bool{}}
	for name, known := range knownCopies {
		src := s.pkg(name.Path)
		if src == nil {
			t.Fatalf("package %s can't be found", name.Path)
		}
		shape := c.declared(src, name.Name, nil)
		copies, into, pointer := shape.manual()
		if shape.form != known.form || c.plain(shape) != known.plain || copies != known.copy ||
			into != known.into || pointer != known.pointer {
			t.Errorf("%v: form %v, plain %t, DeepCopy by hand %t, DeepCopyInto by hand %t, pointer %t; known is %+v",
				name, shape.form, c.plain(shape), copies, into, pointer, *known)
		}
		if known.method != "" && !c.interfaceHas(shape, known.method, 0) {
			t.Errorf("%v has no method %s", name, known.method)
		}
		if has := c.hasCopy(shape, "DeepCopyInto"); shape.form == structForm && !known.plain && has == known.bare {
			t.Errorf("%v: has DeepCopyInto: %t", name, has)
		}
	}
}
