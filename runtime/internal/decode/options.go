package decode

import "strings"

// Options choose what of an object is kept, and what objects share beside
// strings. The zero value keeps everything and shares nothing else.
type Options struct {
	// Drop are fields that are skipped, so that they cost next to nothing: JSON
	// names joined by dots, as in metadata.managedFields or spec.template. The
	// elements of slices and maps have no step of their own: spec.containers.env
	// drops env of every container. A name that no type has drops nothing.
	Drop []string
	// MetadataOnly drops everything but kind, apiVersion and metadata.
	MetadataOnly bool
	// ShareValues gives fields that have the same text in several objects the
	// same maps, slices and pointers, which saves the most where objects are
	// copies of each other. Whoever then changes an object without copying it
	// first changes others, too. A decoder keeps the values to share, with at
	// most 2 MB of text.
	ShareValues bool
}

// cut says which fields of a struct are dropped. A nil cut drops nothing.
type cut struct {
	// whole drops the field that the cut is for, only all of its fields but
	// those.
	whole  bool
	only   map[string]bool
	fields map[string]*cut
}

func (o Options) cut() *cut {
	if len(o.Drop) == 0 && !o.MetadataOnly {
		return nil
	}
	root := &cut{}
	if o.MetadataOnly {
		root.only = map[string]bool{"kind": true, "apiVersion": true, "metadata": true}
	}
	for _, path := range o.Drop {
		at := root
		for name := range strings.SplitSeq(path, ".") {
			if at.fields == nil {
				at.fields = map[string]*cut{}
			}
			if at.fields[name] == nil {
				at.fields[name] = &cut{}
			}
			at = at.fields[name]
		}
		at.whole = true
	}
	return root
}

// of is the cut for a field.
func (c *cut) of(name string) *cut {
	if c == nil {
		return nil
	}
	return c.fields[name]
}

// drops says whether a field is dropped.
func (c *cut) drops(name string) bool {
	if c == nil {
		return false
	}
	return c.only != nil && !c.only[name] || c.fields[name] != nil && c.fields[name].whole
}
