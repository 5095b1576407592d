package decode

import (
	"errors"
	"fmt"
	"io"
	"math"
)

// The wire types of protobuf.
const (
	wireVarint, wire64, wireBytes, wire32 = 0, 1, 2, 5

	wireGroup, wireGroupEnd = 3, 4
)

var (
	errBadVarint = errors.New("proto: integer overflow")
	errBadLength = errors.New("proto: a length that leaves its message")
	errGroupEnd  = errors.New("proto: unexpected end of group")
)

// need makes sure that n bytes are there.
func (r *reader) need(n int) error {
	for r.in.end-r.in.pos < n {
		if !r.in.fill() {
			if r.in.err == io.EOF {
				return r.failed(io.ErrUnexpectedEOF)
			}
			return r.in.err
		}
	}
	return nil
}

// varint reads an integer.
func (r *reader) varint() (uint64, error) {
	var n uint64
	for shift := 0; shift < 64; shift += 7 {
		if err := r.need(1); err != nil {
			return 0, err
		}
		b := r.in.data[r.in.pos]
		r.in.pos++
		n |= uint64(b&0x7f) << shift
		if b < 0x80 {
			return n, nil
		}
	}
	return 0, r.failed(errBadVarint)
}

// tag reads a field's number, of 32 bits, and its wire type, which is that of
// what has a length for all numbers up to last.
func (r *reader) tag(last int32) (number int32, wire int, err error) {
	tag, err := r.varint()
	number, wire = int32(tag>>3), int(tag&7)
	switch {
	case err != nil:
	case number <= 0:
		err = r.failed(fmt.Errorf("proto: illegal tag %d", tag))
	case number <= last && wire != wireBytes:
		err = r.failed(fmt.Errorf("proto: wrong wireType = %d for field %d", wire, number))
	}
	return number, wire, err
}

// length reads the length of what follows, which ends at limit or before. It fits
// an int of 32 bits.
func (r *reader) length(limit int64) (int, error) {
	n, err := r.varint()
	if err != nil {
		return 0, err
	}
	if n > math.MaxInt32 || limit >= 0 && r.in.offset()+int64(n) > limit {
		return 0, r.failed(errBadLength)
	}
	return int(n), nil
}

// bytes reads what has a length. It is valid until the next read.
func (r *reader) bytes(limit int64) ([]byte, error) {
	n, err := r.length(limit)
	if err != nil {
		return nil, err
	}
	if err := r.need(n); err != nil {
		return nil, err
	}
	text := r.in.data[r.in.pos : r.in.pos+n : r.in.pos+n]
	r.in.pos += n
	return text, nil
}

// pass skips a field of that wire type. A group ends where as many groups have
// ended as have begun.
func (r *reader) pass(wire int, limit int64) error {
	for depth := 0; ; {
		switch wire {
		case wireGroup:
			depth++
		case wireGroupEnd:
			if depth--; depth < 0 {
				return r.failed(errGroupEnd)
			}
		default:
			if err := r.passOne(wire, limit); err != nil {
				return err
			}
		}
		if depth == 0 {
			return nil
		}
		tag, err := r.varint()
		if err != nil {
			return err
		}
		wire = int(tag & 7)
	}
}

// passOne skips a field that is no group.
func (r *reader) passOne(wire int, limit int64) (err error) {
	n := 0
	switch wire {
	case wireVarint:
		_, err = r.varint()
		return err
	case wireBytes:
		_, err = r.bytes(limit)
		return err
	case wire64:
		n = 8
	case wire32:
		n = 4
	default:
		return r.failed(fmt.Errorf("proto: illegal wireType %d", wire))
	}
	err = r.need(n)
	if err == nil {
		r.in.pos += n
	}
	return err
}

// message reads what has a length into m.
func (r *reader) message(m message, limit int64) error {
	text, err := r.bytes(limit)
	if err != nil {
		return err
	}
	if err := unmarshal(m, text); err != nil {
		return r.failed(err)
	}
	return nil
}
