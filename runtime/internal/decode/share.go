package decode

import (
	"bytes"
	"hash/maphash"
	"reflect"
	"unsafe"
)

const (
	// Only values of some length are looked for, and not of any.
	shortestValue = 8
	longestValue  = 4 << 10
	// The table of values has so many buckets at first, and four times as many
	// whenever there were as many misses, up to the largest.
	smallestValues = 1 << 6
	largestValues  = 1 << 11
	// The table keeps so many bytes of text; beyond that it forgets.
	largestText = 2 << 20
	// Of so many values of a field one in eight must have been there before for
	// the field to be looked for any longer. If they weren't, so many values are
	// let pass before the next attempt: fields may change their nature, and
	// values that go round in a long circle show that late.
	trials = 512
	pause  = 8 * trials
)

// values holds decoded values, for other objects to share. As in a table, a
// bucket has a place for a value that was found again and one for another.
type values struct {
	seed    maphash.Seed
	buckets [][2]value
	misses  int
	// text is how many bytes of text they have.
	text int
}

// value is what a text was decoded into.
type value struct {
	plan *plan
	text []byte
	is   reflect.Value
}

// history is how often values of a field were there before, of those that were
// looked for since the last decision.
type history struct{ tries, hits, pause uint32 }

// isHopeless says whether the next value isn't to be looked for.
func (h *history) isHopeless() bool {
	if h.pause > 0 {
		h.pause--
		return true
	}
	if h.tries == trials {
		if h.hits*8 < h.tries {
			h.pause = pause
		}
		h.tries, h.hits = 0, 0
	}
	return h.pause > 0
}

// isShared says whether values of a plan refer to memory.
func (p *plan) isShared() bool {
	switch p.op {
	case opStruct, opPointer, opSlice, opStrings, opBytes, opMap, opStringMap, opAny, opUnmarshaler, opForeign:
		return true
	}
	return false
}

// share decodes the value of a field, or finds what its text was decoded into
// before.
func (d *decoder) share(f *field, at unsafe.Pointer) bool {
	if !f.plan.isShared() || f.history.isHopeless() {
		return d.value(f.plan, at)
	}
	target := reflect.NewAt(f.typ, at).Elem()
	if !target.IsZero() {
		// A duplicate is decoded onto what is there already.
		return d.value(f.plan, at)
	}
	start := d.pos
	text, ok := d.raw()
	if !ok {
		return false
	}
	if len(text) < shortestValue || len(text) > longestValue {
		d.pos = start
		return d.value(f.plan, at)
	}
	f.history.tries++
	b := d.values.bucket(text)
	for i := range b {
		if b[i].plan == f.plan && bytes.Equal(b[i].text, text) {
			f.history.hits++
			target.Set(b[i].is)
			b[0], b[i] = b[i], b[0]
			return true
		}
	}
	kept := bytes.Clone(text)
	end := d.pos
	d.pos = start
	if !d.value(f.plan, at) {
		return false
	}
	d.pos = end
	copied := reflect.New(f.typ).Elem()
	copied.Set(target)
	d.values.add(value{plan: f.plan, text: kept, is: copied})
	return true
}

// add keeps one that was looked for in vain.
func (v *values) add(one value) {
	v.misses++
	if v.text+len(one.text) > largestText {
		v.forget()
	}
	place := &v.bucket(one.text)[1]
	v.text += len(one.text) - len(place.text)
	*place = one
}

// forget makes room: what wasn't found again goes, and if that is too little
// everything.
func (v *values) forget() {
	proven := 0
	for i := range v.buckets {
		v.buckets[i][1] = value{}
		proven += len(v.buckets[i][0].text)
	}
	if proven > largestText/2 {
		clear(v.buckets)
		proven = 0
	}
	v.text = proven
}

// bucket returns the places for a text.
func (v *values) bucket(text []byte) *[2]value {
	if v.misses >= len(v.buckets) && len(v.buckets) < largestValues {
		v.grow()
	}
	return &v.buckets[maphash.Bytes(v.seed, text)&uint64(len(v.buckets)-1)]
}

func (v *values) grow() {
	before := v.buckets
	if before == nil {
		v.seed = maphash.MakeSeed()
	}
	v.misses = 0
	v.buckets = make([][2]value, min(max(4*len(before), smallestValues), largestValues))
	for _, b := range before {
		for _, one := range []value{b[1], b[0]} {
			if one.plan != nil {
				to := v.bucket(one.text)
				v.text -= len(to[1].text)
				to[0], to[1] = one, to[0]
			}
		}
	}
}
