package decode

import (
	"bytes"
	"hash/maphash"
	"reflect"
	"unsafe"
)

const (
	// longestShared is the length of the longest string to look for.
	longestShared = 128
	// The table begins with smallestTable sets, 1 KB, for the many informers of few objects,
	// and gets twice as many after four misses a set, up to largestTable: 260 KB, 520 KB with
	// boxes, and at most 2 MB of strings that nothing else uses.
	smallestTable = 1 << 4
	largestTable  = 1 << 12
)

// stringTable holds strings that were seen, for objects to share: names, label keys, images.
// For a deployment that saves 67 of 116 allocations, and as many objects for the garbage
// collector to mark as long as the deployment is cached.
//
// It is a set-associative cache, as processors have them, in which each set replaces strings
// by the clock algorithm (second chance): a new string takes the place of the next one that
// wasn't found since the clock's hand passed it last. So the table is bounded, strings that repeat
// stay however many others go through, and a string that no object uses any more leaves it
// soon. The package unique would drop such a string at once, but needs a string for a look-up:
// the allocation that is to be saved.
type stringTable struct {
	seed maphash.Seed
	sets []set
	// boxes has the strings that box returned, as interfaces. It is nil before the first.
	boxes [][ways]any
	// states has a byte for each set: one bit for each string, set if it was found since the
	// hand passed it, and the hand in the bits above.
	states []uint8
	misses int
}

// set has four strings, 64 bytes: a line of the processor's cache.
type set [ways]string

const ways = 4

// get returns a string of that content, if possible one that it returned before. It allocates
// only new strings.
func (t *stringTable) get(content []byte) string {
	n := len(content)
	if n == 0 {
		return ""
	}
	if n > longestShared {
		return string(content)
	}
	i := t.setOfBytes(content)
	for j, s := range &t.sets[i] {
		if s == string(content) {
			t.states[i] |= 1 << j
			return s
		}
	}
	return t.add(i, string(content))
}

// box is get for a string that is stored in an interface. The interface is shared, too: by itself
// it takes an allocation and 16 bytes.
func (t *stringTable) box(content []byte) any {
	n := len(content)
	if n == 0 || n > longestShared {
		return string(content)
	}
	i := t.setOfBytes(content)
	if t.boxes == nil {
		t.boxes = make([][ways]any, len(t.sets))
	}
	for j := range &t.sets[i] {
		if t.sets[i][j] == string(content) {
			t.states[i] |= 1 << j
			return t.boxed(i, j)
		}
	}
	t.misses++
	return t.boxed(i, t.put(i, string(content), 0))
}

// boxed returns string j of set i as an interface.
func (t *stringTable) boxed(i uint32, j int) any {
	box := &t.boxes[i][j]
	if *box == nil {
		*box = t.sets[i][j]
	}
	return *box
}

// intern returns an equal string of the table, or s.
func (t *stringTable) intern(s string) string {
	if len(s) == 0 || len(s) > longestShared {
		return s
	}
	i := t.setOf(s)
	for j, known := range &t.sets[i] {
		if known == s {
			t.states[i] |= 1 << j
			return known
		}
	}
	return t.add(i, s)
}

// setOf returns the number of the set where a string belongs; setOfBytes does the same for
// bytes.
func (t *stringTable) setOf(content string) uint32 {
	if t.misses >= ways*len(t.sets) && len(t.sets) < largestTable {
		t.grow()
	}
	return uint32(maphash.String(t.seed, content)) & uint32(len(t.sets)-1)
}

func (t *stringTable) setOfBytes(content []byte) uint32 {
	if t.misses >= ways*len(t.sets) && len(t.sets) < largestTable {
		t.grow()
	}
	return uint32(maphash.Bytes(t.seed, content)) & uint32(len(t.sets)-1)
}

// add puts a string that wasn't found into its set, and returns it.
func (t *stringTable) add(i uint32, s string) string {
	t.misses++
	t.put(i, s, 0)
	return s
}

// put puts a string into a set and returns its place there. found is its bit in states.
func (t *stringTable) put(i uint32, s string, found uint8) (j int) {
	state := t.states[i]
	turn := state >> ways
	for ; state>>turn&1 != 0; turn = (turn + 1) % ways {
		state &^= 1 << turn
	}
	t.sets[i][turn] = s
	if t.boxes != nil {
		t.boxes[i][turn] = nil
	}
	t.states[i] = state&(1<<ways-1) | found<<turn | (turn+1)%ways<<ways
	return int(turn)
}

// grow makes the table larger. All strings stay, with their bits; where a set overflows, those
// that weren't found go first.
func (t *stringTable) grow() {
	before := *t
	n := min(max(2*len(before.sets), smallestTable), largestTable)
	*t = stringTable{seed: before.seed, sets: make([]set, n), states: make([]uint8, n)}
	if before.sets == nil {
		t.seed = maphash.MakeSeed()
	}
	if before.boxes != nil {
		t.boxes = make([][ways]any, n)
	}
	for i := range before.sets {
		for j, s := range &before.sets[i] {
			if s == "" {
				continue
			}
			to := t.setOf(s)
			k := t.put(to, s, before.states[i]>>j&1)
			if before.boxes != nil {
				t.boxes[to][k] = before.boxes[i][j]
			}
		}
	}
}

const (
	// Values with shorter or longer texts aren't looked for: short ones save little, long
	// ones rarely repeat.
	shortestValue = 8
	longestValue  = 4 << 10
	// Values deeper than deepestShared aren't looked for, either: a look-up reads the whole text of a value,
	// so the text of a nested value is read once for each value around it.
	deepestShared = 32
	// The table begins with smallestValues buckets, and gets four times as many after as
	// many misses as it has buckets, up to largestValues.
	smallestValues = 1 << 6
	largestValues  = 1 << 11
	// largestShared is the number of bytes that the table keeps: of text, and of the memory of values without a
	// type, which is several times as large.
	largestShared = 2 << 20
	// Of trials values of a field, one in eight must be found. Otherwise the next pause
	// values aren't looked for, to save time. Then the look-ups start again: the objects may
	// have changed, and values that repeat in a long cycle are found late.
	trials = 512
	pause  = 8 * trials
)

// valueTable holds decoded values, for objects to share if Options.ShareValues is set. A bucket
// has two values: the first was found at least once, the second is the newest. So values that
// don't repeat only replace each other.
type valueTable struct {
	seed    maphash.Seed
	buckets [][2]value
	misses  int
	// size is that of all values.
	size int
}

// value is a decoded text.
type value struct {
	plan *plan
	text []byte
	// size is what counts for largestShared.
	size int
	is   reflect.Value
}

// history counts, for a field, the values that were looked for since the last decision, and
// those that were found.
type history struct{ tries, hits, pause uint32 }

// isHopeless reports whether the next value shouldn't be looked for.
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

// isShared reports whether values of a plan refer to other memory, which sharing saves.
func (p *plan) isShared() bool {
	switch p.op {
	case opStruct, opPointer, opSlice, opStrings, opBytes, opMap, opStringMap, opAny,
		opUnmarshaler, opForeign:
		return true
	}
	return false
}

// decodeShared decodes the value of a field, or finds the value that an equal text was decoded into.
func (d *jsonDecoder) decodeShared(f *field, at unsafe.Pointer) bool {
	if !f.plan.isShared() || d.depth > deepestShared || f.history.isHopeless() || d.readsTimesIn(f.plan.cut) {
		return d.value(f.plan, at)
	}
	target := reflect.NewAt(f.typ, at).Elem()
	if !target.IsZero() {
		// The name came before: this value is decoded onto the first.
		return d.value(f.plan, at)
	}
	known, text, ok := d.lookUp(f.plan, &f.history)
	if !ok {
		return false
	}
	if known.IsValid() {
		target.Set(known)
		return true
	}
	if !d.value(f.plan, at) {
		return false
	}
	if text != nil {
		// The copy is shallow: from now on it and the object share what it refers to.
		copied := reflect.New(f.typ).Elem()
		copied.Set(target)
		d.values.add(value{plan: f.plan, text: bytes.Clone(text), size: len(text), is: copied})
	}
	return true
}

// lookUp looks for a value that was decoded from the text at pos. Skipping the text takes a
// fifth of the time of decoding it. If there is no such value, the caller must decode it, and
// add it with the returned text, unless that is nil. The text is a part of the window.
func (d *jsonDecoder) lookUp(p *plan, h *history) (known reflect.Value, text []byte, ok bool) {
	start := d.pos
	if text, ok = d.raw(); !ok {
		return known, nil, false
	}
	if len(text) < shortestValue || len(text) > longestValue {
		d.pos = start
		return known, nil, true
	}
	h.tries++
	if known = d.values.find(p, text); known.IsValid() {
		h.hits++
		return known, nil, true
	}
	d.pos = start
	return known, text, true
}

// find returns the value of a plan that was decoded from a text, the zero Value if there is none.
func (v *valueTable) find(p *plan, text []byte) reflect.Value {
	b := v.bucket(text)
	for i := range b {
		if b[i].plan == p && bytes.Equal(b[i].text, text) {
			b[0], b[i] = b[i], b[0]
			return b[0].is
		}
	}
	return reflect.Value{}
}

// add adds a value that wasn't found.
func (v *valueTable) add(one value) {
	v.misses++
	if v.size+one.size > largestShared {
		v.forget()
	}
	place := &v.bucket(one.text)[1]
	v.size += one.size - place.size
	*place = one
}

// forget makes room. It removes the values that weren't found again, or all values if that
// isn't enough.
func (v *valueTable) forget() {
	proven := 0
	for i := range v.buckets {
		v.buckets[i][1] = value{}
		proven += v.buckets[i][0].size
	}
	if proven > largestShared/2 {
		clear(v.buckets)
		proven = 0
	}
	v.size = proven
}

// bucket returns the two places for a text.
func (v *valueTable) bucket(text []byte) *[2]value {
	if v.misses >= len(v.buckets) && len(v.buckets) < largestValues {
		v.grow()
	}
	return &v.buckets[maphash.Bytes(v.seed, text)&uint64(len(v.buckets)-1)]
}

// grow makes the table larger. All values stay, unless several fall into one bucket.
func (v *valueTable) grow() {
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
				v.size -= to[1].size
				to[0], to[1] = one, to[0]
			}
		}
	}
}
