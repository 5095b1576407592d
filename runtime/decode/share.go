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
	// The table of values has so many buckets at first, and at most; see table.
	smallestValues = 1 << 6
	largestValues  = 1 << 10
	// Of so many values of a field one in four must have been there before for
	// the field to be looked for any longer.
	trials = 64
)

// values holds decoded values, for other objects to share.
type values struct {
	seed    maphash.Seed
	buckets [][2]value
	misses  int
}

// value is what a text was decoded into.
type value struct {
	plan *plan
	text []byte
	is   reflect.Value
}

// history is how often values of a field were there before.
type history struct{ tries, hits uint32 }

func (h history) isHopeless() bool { return h.tries >= trials && h.hits*4 < h.tries }

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
	if f.history.isHopeless() || !f.plan.isShared() {
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
	if f.history.tries == trials*trials {
		// Fields may change their nature.
		f.history = history{tries: f.history.tries / trials, hits: f.history.hits / trials}
	}
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
	d.values.misses++
	copied := reflect.New(f.typ).Elem()
	copied.Set(target)
	// Decoding may have replaced the buckets.
	d.values.bucket(kept)[1] = value{plan: f.plan, text: kept, is: copied}
	return true
}

// bucket returns the places for a text.
func (v *values) bucket(text []byte) *[2]value {
	if v.misses >= 2*len(v.buckets) && len(v.buckets) < largestValues {
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
				to[0], to[1] = one, to[0]
			}
		}
	}
}
