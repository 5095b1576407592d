package decode

import (
	"cmp"
	"encoding/binary"
	"reflect"
	"slices"
	"strings"
	"unicode"
)

// fields are the names that a struct knows.
type fields struct {
	list []field
	// byName finds what prediction didn't.
	byName map[string]int32
	// first is the field that an object began with last.
	first int32
	// unsettled are those that settle looks at, nil before the first time.
	unsettled []*field
}

// field is one of a struct's names and where its value goes.
type field struct {
	// quoted is the name as it stands in the text, with both quotes and the
	// colon; word and mask are its first eight bytes for a quick comparison.
	quoted     string
	word, mask uint64
	name       string
	// offset is from the struct, or from the last of the pointers that lead to
	// an embedded struct.
	offset uintptr
	via    []hop
	typ    reflect.Type
	// plan is nil until the field is first met.
	plan *plan
	// drop has the value skipped.
	drop bool
	// foreign are fields whose tag says string.
	foreign bool
	// next is the field that followed last time.
	next    int32
	history history
}

// hop is an embedded pointer on the way to a field.
type hop struct {
	offset uintptr
	typ    reflect.Type // of the struct that it points to
}

// candidate is a field under the rules of encoding/json for embedded structs:
// the shallowest of a name wins, then one whose name comes from a tag; if there
// are several still, none.
type candidate struct {
	field
	index  []int
	tagged bool
	// settable is false behind a pointer to an unexported struct, which can't
	// be allocated from outside.
	settable bool
}

// level is a struct to look into.
type level struct {
	typ      reflect.Type
	index    []int
	offset   uintptr
	via      []hop
	settable bool
}

// fieldsOf returns the fields of a struct type, nil if it has one that only
// Kubernetes' own decoder knows what to do with.
func fieldsOf(t reflect.Type) *fields {
	var all []candidate
	visited := map[reflect.Type]bool{}
	var count map[reflect.Type]int
	for current := []level{{typ: t, settable: true}}; len(current) > 0; {
		var deeper []level
		deeperCount := map[reflect.Type]int{}
		for _, l := range current {
			if visited[l.typ] {
				continue
			}
			visited[l.typ] = true
			for i := range l.typ.NumField() {
				c, inner := l.look(i)
				switch {
				case inner != nil:
					if deeperCount[inner.typ]++; deeperCount[inner.typ] == 1 {
						deeper = append(deeper, *inner)
					}
				case c != nil:
					all = append(all, *c)
					if count[l.typ] > 1 {
						// The struct is embedded more than once at this depth:
						// its fields hide each other.
						all = append(all, *c)
					}
				}
			}
		}
		current, count = deeper, deeperCount
	}
	return newFields(dominant(all))
}

// look returns the candidate that field i is, or the struct that it embeds, or
// neither.
func (l level) look(i int) (*candidate, *level) {
	sf := l.typ.Field(i)
	target := sf.Type
	if target.Name() == "" && target.Kind() == reflect.Pointer {
		target = target.Elem()
	}
	if !sf.IsExported() && !(sf.Anonymous && target.Kind() == reflect.Struct) {
		return nil, nil
	}
	tag := sf.Tag.Get("json")
	if tag == "-" {
		return nil, nil
	}
	name, options, _ := strings.Cut(tag, ",")
	if !validName(name) {
		name = ""
	}
	index := append(slices.Clone(l.index), i)
	if name == "" && sf.Anonymous && target.Kind() == reflect.Struct {
		inner := &level{typ: target, index: index, offset: l.offset + sf.Offset, via: l.via, settable: l.settable}
		if sf.Type.Kind() == reflect.Pointer {
			inner.via = append(slices.Clone(l.via), hop{offset: l.offset + sf.Offset, typ: target})
			inner.offset = 0
			inner.settable = l.settable && sf.IsExported()
		}
		return nil, inner
	}
	c := &candidate{index: index, tagged: name != "", settable: l.settable}
	c.name = cmp.Or(name, sf.Name)
	c.offset, c.via, c.typ = l.offset+sf.Offset, l.via, sf.Type
	c.foreign = slices.Contains(strings.Split(options, ","), "string")
	return c, nil
}

// validName says whether encoding/json takes a tag's name.
func validName(name string) bool {
	for _, c := range name {
		if !strings.ContainsRune("!#$%&()*+-./:;<=>?@[]^_{|}~ ", c) && !unicode.IsLetter(c) && !unicode.IsDigit(c) {
			return false
		}
	}
	return name != ""
}

// dominant drops the fields that others hide, and sorts the rest as the struct
// has them, which is how they arrive.
func dominant(all []candidate) []candidate {
	slices.SortStableFunc(all, func(a, b candidate) int {
		return cmp.Or(
			strings.Compare(a.name, b.name),
			cmp.Compare(len(a.index), len(b.index)),
			-compareBools(a.tagged, b.tagged),
			slices.Compare(a.index, b.index),
		)
	})
	var kept []candidate
	for i, j := 0, 0; i < len(all); i = j {
		for j = i + 1; j < len(all) && all[j].name == all[i].name; j++ {
		}
		if j == i+1 || len(all[i].index) != len(all[i+1].index) || all[i].tagged != all[i+1].tagged {
			kept = append(kept, all[i])
		}
	}
	slices.SortFunc(kept, func(a, b candidate) int { return slices.Compare(a.index, b.index) })
	return kept
}

func compareBools(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

func newFields(kept []candidate) *fields {
	fs := &fields{list: make([]field, len(kept)), byName: make(map[string]int32, len(kept))}
	for i, c := range kept {
		if c.foreign || !c.settable {
			return nil
		}
		f := c.field
		f.next = int32((i + 1) % len(kept))
		f.quoted = f.name + `":`
		var first [8]byte
		for j := range copy(first[:], f.quoted) {
			f.mask |= 0xff << (8 * j)
		}
		f.word = binary.LittleEndian.Uint64(first[:])
		fs.list[i] = f
		fs.byName[f.name] = int32(i)
	}
	return fs
}
