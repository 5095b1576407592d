package decode

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"flag"
	"reflect"
	"testing"
)

// wiresPerKind is small for the same reason as perKind; make nightly sets it higher.
var wiresPerKind = flag.Int("wires", 8, "random messages in protobuf for each kind")

// wires makes random messages from a type's plan: regular ones, and ones that no encoder writes.
type wires struct {
	objects
	// odd is how rarely something is wrong: one time in odd times; 0 is never.
	odd int
}

func (w *wires) isOdd() bool    { return w.odd > 0 && w.rand.Intn(w.odd) == 0 }
func (w *wires) one(n int) bool { return w.rand.Intn(n) == 0 }
func (w *wires) junk() []byte   { return w.random(w.rand.Intn(6)) }

func (w *wires) random(n int) []byte {
	b := make([]byte, n)
	w.rand.Read(b)
	return b
}

// varint returns the encoding of n, sometimes in more bytes than it needs.
func (w *wires) varint(n uint64) []byte {
	b := binary.AppendUvarint(nil, n)
	if w.one(40) {
		for last := len(b) - 1; len(b) < 2+w.rand.Intn(9); last++ {
			b[last] |= 0x80
			b = append(b, 0)
		}
	}
	if w.isOdd() {
		// It has more than ten bytes, or more than 64 bits.
		b = append(bytes.Repeat([]byte{0xff}, 9+w.rand.Intn(2)), byte(w.rand.Intn(0x80)))
	}
	return b
}

func (w *wires) number() uint64 {
	switch w.rand.Intn(4) {
	case 0:
		return uint64(w.rand.Intn(3))
	case 1:
		return ^uint64(w.rand.Intn(3)) // a negative number
	}
	return w.rand.Uint64() >> w.rand.Intn(64)
}

// bytes returns content after its length, which is sometimes wrong.
func (w *wires) bytes(content []byte) []byte {
	length := uint64(len(content))
	if w.isOdd() {
		length = []uint64{length + 1, length / 2, 1 << 31, 1<<63 - 1, 1<<64 - 1,
			w.rand.Uint64()}[w.rand.Intn(6)]
	}
	return append(w.varint(length), content...)
}

func (w *wires) text() []byte {
	switch w.rand.Intn(5) {
	case 0:
		return nil
	case 1:
		return w.junk() // rarely UTF-8
	}
	return []byte([]string{"a", "default", "app.kubernetes.io/name", "grüße"}[w.rand.Intn(4)])
}

// unknown returns a field that the type may not have.
func (w *wires) unknown() []byte {
	number := uint64(100 + w.rand.Intn(1000))
	if w.one(4) {
		number = 1<<28 - 1 + uint64(w.rand.Intn(3))
	}
	if w.isOdd() {
		number = uint64(w.rand.Int63n(1 << 36))
	}
	return w.field(number, w.rand.Intn(6))
}

// field returns a field with random content.
func (w *wires) field(number uint64, wire int) []byte {
	b := w.varint(number<<3 | uint64(wire))
	switch wire {
	case wireVarint:
		return append(b, w.varint(w.number())...)
	case wireBytes:
		return append(b, w.bytes(w.junk())...)
	case wire64:
		return append(b, w.random(8)...)
	case wire32:
		return append(b, w.random(4)...)
	case wireGroup:
		for range w.rand.Intn(3) {
			b = append(b, w.unknown()...)
		}
		if !w.isOdd() {
			b = append(b, w.varint(number<<3|wireGroupEnd)...)
		}
	}
	return b // the end of a group that hasn't begun is possible, too
}

// message returns a message of the plan's type.
func (w *wires) message(p *messagePlan, depth int) (text []byte) {
	if p.own {
		return w.own(p.typ)
	}
	var known []int
	for number, f := range p.fields {
		if f.op != noOp {
			known = append(known, number)
		}
	}
	for range w.rand.Intn(2 + min(len(known), 8)) {
		if w.one(30) || len(known) == 0 {
			text = append(text, w.unknown()...)
			continue
		}
		number := known[w.rand.Intn(len(known))]
		f := &p.fields[number]
		if w.isOdd() {
			text = append(text, w.field(uint64(number), w.rand.Intn(8))...)
			continue
		}
		// Some fields occur several times, in a row or not.
		for again := true; again; again = w.one(4) {
			text = append(text, w.varint(uint64(number)<<3|uint64(f.wire))...)
			if f.wire == wireVarint {
				text = append(text, w.varint(w.number())...)
			} else {
				text = append(text, w.bytes(w.content(f, depth))...)
			}
		}
	}
	if w.isOdd() && len(text) > 0 {
		text = text[:w.rand.Intn(len(text))]
	}
	return text
}

// content returns the content of a field that has a length.
func (w *wires) content(f *messageField, depth int) []byte {
	switch f.op {
	case messageOp, messagePointerOp, messagesOp:
		if depth == 0 {
			return nil
		}
		return w.message(f.elem, depth-1)
	case stringMapOp, mapOp:
		return w.entry(f, depth)
	}
	return w.text()
}

// entry returns an entry of a map, sometimes with too many or too few fields.
func (w *wires) entry(f *messageField, depth int) []byte {
	value := w.text()
	if f.elem != nil && depth > 0 {
		value = w.message(f.elem, depth-1)
	}
	parts := [][]byte{bytesField(1, w.text()), bytesField(2, value)}
	switch w.rand.Intn(20) {
	case 0:
		parts = parts[1:]
	case 1:
		parts = parts[:1]
	case 2:
		parts[0], parts[1] = parts[1], parts[0]
	case 3:
		parts = append(parts, parts[w.rand.Intn(2)])
	case 4:
		parts = append(parts, w.field(3, w.rand.Intn(6)))
	case 5:
		parts = append(parts, w.junk())
	case 6:
		parts[w.rand.Intn(2)] = w.unknown()
	}
	return bytes.Join(parts, nil)
}

// own returns a message of a type whose own method decodes it.
func (w *wires) own(typ reflect.Type) []byte {
	if w.isOdd() {
		return append(w.field(uint64(1+w.rand.Intn(3)), w.rand.Intn(8)), w.junk()...)
	}
	v := reflect.New(typ)
	w.filler.Fill(v.Interface())
	marshaler, ok := v.Interface().(interface{ Marshal() ([]byte, error) })
	if !ok {
		return nil
	}
	text, err := marshaler.Marshal()
	if err != nil {
		return nil
	}
	return text
}

// TestWires checks that a message that its plan accepts is accepted by the type's own method as well, and
// that both result in the same object, which doesn't refer to the message's memory.
func TestWires(t *testing.T) {
	w := &wires{objects: newObjects(6)}
	seen, taken := 0, 0
	done := map[reflect.Type]bool{}
	for gvk, typ := range kinds.AllKnownTypes() {
		if !isMessage(typ) || done[typ] {
			continue
		}
		done[typ] = true
		t.Run(gvk.String(), func(t *testing.T) {
			d := New(reflect.TypeFor[*struct{}](), Options{})
			plan := d.proto.messageOf(d.cut, typ)
			if plan.own {
				return
			}
			for range *wiresPerKind {
				if w.odd = 0; w.one(2) {
					w.odd = 50
				}
				text := w.message(plan, 5)
				seen++
				got, want := reflect.New(typ), reflect.New(typ)
				again := bytes.Clone(text)
				d.json.left = 1 << 30
				if !d.proto.message(plan, again, got.UnsafePointer()) {
					continue
				}
				taken++
				clear(again)
				if err := unmarshal(want.Interface().(message), text); err != nil {
					t.Fatalf("taken, and refused with %v: %s", err, hex.EncodeToString(text))
				}
				if !reflect.DeepEqual(got.Interface(), want.Interface()) {
					t.Fatalf("%s: %s", difference(got.Interface(), want.Interface()),
						hex.EncodeToString(text))
				}
			}
		})
	}
	if len(done) < 300 || taken < seen/4 || taken > seen*9/10 {
		t.Errorf("%d kinds, %d of %d messages taken", len(done), taken, seen)
	}
	t.Logf("%d kinds, %d of %d messages taken", len(done), taken, seen)
}
