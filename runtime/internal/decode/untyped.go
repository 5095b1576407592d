package decode

import (
	"bytes"
	"math"
	"reflect"
	"strconv"
)

// Most of the memory of untyped values is what Go needs to hold them: 336 bytes for a map of one to eight
// names, 16 for a string in an interface, 8 for an integer. Objects don't share maps, unless
// Options.ShareValues is set, or [Decoder.ShareFieldSets] was called. They share strings and integers, which
// can't be changed.

// member is a name of a map without a type, and its value.
type member struct {
	name  string
	value any
}

// part is the role of a map or a slice in an object.
type part uint8

const (
	anyPart part = iota
	wholeObject
	metadataPart
	// managedPart is the metadata's managedFields, managedEntry an entry of them, and fieldSet its fieldsV1.
	managedPart
	managedEntry
	fieldSet
)

const (
	// largestStack is the largest number of members and elements for which a decoder keeps
	// the memory to collect them. One large object must not hold memory for good.
	largestStack = 1 << 10
	// knownInts is the number of integers to remember: ports, sizes, seconds.
	knownInts = 1 << 7
	// mostHistories is the largest number of names that have a history of their own.
	mostHistories = 1 << 10
)

// untyped decodes any value as a map[string]any, []any, string, bool, int64, float64 or
// nil, without the fields that c drops. Steps of the paths to drop are the names in maps.
func (d *jsonDecoder) untyped(c *cut) (any, bool) {
	switch first := d.data[d.pos]; first {
	case '"':
		text, ok := d.bytes()
		if !ok {
			return nil, false
		}
		return d.strings.box(text), true
	case '{':
		return d.untypedMap(c, anyPart)
	case '[':
		return d.untypedSlice(c, anyPart)
	case 't':
		return true, d.literal("true")
	case 'f':
		return false, d.literal("false")
	case 'n':
		return nil, d.literal("null")
	default:
		if first != '-' && !isDigit(first) {
			return nil, d.unexpected("looking for beginning of value")
		}
		text, ok := d.number()
		if !ok {
			return nil, false
		}
		return d.untypedNumber(text)
	}
}

// untypedNumber returns an int64 if text is an integer that fits, otherwise a float64.
func (d *jsonDecoder) untypedNumber(text []byte) (any, bool) {
	if n, ok := integer(text); ok {
		return d.boxInt(n), true
	}
	f, err := strconv.ParseFloat(string(text), 64)
	if err != nil || math.IsInf(f, 0) {
		return nil, d.mismatch("number", reflect.TypeFor[float64]())
	}
	return f, true
}

// integer parses a number in JSON if it is an integer that fits. [strconv.ParseInt] alone would allocate an
// error for each float.
func integer(text []byte) (n int64, ok bool) {
	for i, c := range text {
		switch {
		case isDigit(c):
			n = n*10 + int64(c-'0') // It may overflow if there are many digits: see below.
		case i > 0 || c != '-':
			return 0, false
		}
	}
	if len(text) > 18 {
		n, err := parseInt(text)
		return n, err == nil
	}
	if text[0] == '-' {
		n = -n
	}
	return n, true
}

// boxInt returns an integer as an interface, if possible one that it returned before.
func (d *jsonDecoder) boxInt(n int64) any {
	if 0 <= n && n < 256 {
		return n // Go doesn't allocate for these.
	}
	if d.ints == nil {
		d.ints = new([knownInts]any)
	}
	known := &d.ints[uint64(n)%knownInts]
	if before, ok := (*known).(int64); !ok || before != n {
		*known = n
	}
	return *known
}

// untypedMap decodes a map. Its members are collected first, so that it is allocated once, in its
// final size. Of members with the same name the last one counts.
func (d *jsonDecoder) untypedMap(c *cut, is part) (m map[string]any, ok bool) {
	if !d.spend(containerCost) {
		return nil, false
	}
	empty, ok := d.open('}')
	if !ok || empty {
		return map[string]any{}, ok
	}
	start := len(d.members)
	if ok = d.collectMembers(c, is); ok {
		collected := d.members[start:]
		m = make(map[string]any, len(collected))
		for i := range collected {
			m[collected[i].name] = collected[i].value
		}
	}
	// The stack must not keep the members alive.
	clear(d.members[start:])
	if d.members = d.members[:start]; start == 0 && cap(d.members) > largestStack {
		d.members = nil
	}
	return m, ok
}

// collectMembers decodes the members of a map, up to its end.
func (d *jsonDecoder) collectMembers(c *cut, is part) bool {
	for more := true; more; {
		name, ok := d.key()
		if !ok {
			return false
		}
		if c.drops(name) {
			if is == metadataPart && name == managedFields {
				ok = d.skipManagedFields()
			} else {
				ok = d.skip()
			}
		} else {
			var value any
			value, ok = d.untypedMember(name, c.forField(name), is)
			ok = ok && d.spend(entryCost)
			d.members = append(d.members, member{name, value})
		}
		if !ok {
			return d.inMember(name)
		}
		if more, ok = d.another('}', "after object key:value pair"); !ok {
			return false
		}
	}
	return true
}

// untypedMember decodes the value of a member.
func (d *jsonDecoder) untypedMember(name string, c *cut, is part) (any, bool) {
	switch first := d.data[d.pos]; {
	case is == wholeObject && first == '{' && name == "metadata":
		is = metadataPart
	case is == metadataPart && first == '"' && isUniqueName(name):
		text, ok := d.bytes()
		return string(text), ok
	case is == metadataPart && first == '[' && name == managedFields:
		is = managedPart
	case is == managedEntry && first == '{' && name == "fieldsV1":
		is = fieldSet
	case first == '{' || first == '[':
		is = anyPart
	default:
		return d.untyped(c)
	}
	if d.shareValues || is == fieldSet && d.shareFieldSets {
		return d.decodeSharedUntyped(name, c, is)
	}
	return d.untypedContainer(c, is)
}

// untypedContainer decodes a map or a slice.
func (d *jsonDecoder) untypedContainer(c *cut, is part) (any, bool) {
	if d.data[d.pos] == '[' {
		return d.untypedSlice(c, is)
	}
	return d.untypedMap(c, is)
}

// decodeSharedUntyped is decodeShared for a member whose value is a map or a slice.
func (d *jsonDecoder) decodeSharedUntyped(name string, c *cut, is part) (any, bool) {
	h := d.historyOf(name)
	if d.depth > deepestShared || h.isHopeless() || is == metadataPart && d.readsTimesIn(c) {
		return d.untypedContainer(c, is)
	}
	// Each cut has its own plan: with other names dropped, the same text is another value.
	p := d.plans.without(c, reflect.TypeFor[any]())
	known, text, ok := d.lookUp(p, h)
	if !ok {
		return nil, false
	}
	if known.IsValid() {
		return known.Interface(), true
	}
	left := d.left
	decoded, ok := d.untypedContainer(c, is)
	if ok && text != nil {
		d.values.add(value{plan: p, text: bytes.Clone(text), size: len(text) + left - d.left,
			is: reflect.ValueOf(decoded)})
	}
	return decoded, ok
}

// historyOf returns the history of all members with a name, wherever they are in an object.
func (d *jsonDecoder) historyOf(name string) *history {
	h := d.histories[name]
	if h != nil {
		return h
	}
	if len(d.histories) >= mostHistories || len(name) > longestShared {
		return &d.otherHistory
	}
	if d.histories == nil {
		d.histories = map[string]*history{}
	}
	h = &history{}
	d.histories[name] = h
	return h
}

// untypedSlice decodes a slice, in the way of untypedMap. Its elements have no step in paths to drop.
func (d *jsonDecoder) untypedSlice(c *cut, is part) (s []any, ok bool) {
	if !d.spend(containerCost) {
		return nil, false
	}
	empty, ok := d.open(']')
	if !ok || empty {
		return []any{}, ok
	}
	start := len(d.elements)
	for more := true; more && ok; {
		var value any
		if is == managedPart && d.data[d.pos] == '{' {
			value, ok = d.untypedMap(c, managedEntry)
		} else {
			value, ok = d.untyped(c)
		}
		if !ok || !d.spend(elementCost) {
			ok = false
			d.in("[" + strconv.Itoa(len(d.elements)-start) + "]")
			break
		}
		d.elements = append(d.elements, value)
		more, ok = d.another(']', "after array element")
	}
	if ok {
		s = append(make([]any, 0, len(d.elements)-start), d.elements[start:]...)
	}
	clear(d.elements[start:])
	if d.elements = d.elements[:start]; start == 0 && cap(d.elements) > largestStack {
		d.elements = nil
	}
	return s, ok
}
