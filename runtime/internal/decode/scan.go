package decode

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
)

// maxDepth is how deep values may nest, as in encoding/json.
const maxDepth = 10000

const (
	every   = 0x0101010101010101
	high    = 0x80 * every
	space   = 0x20 * every
	quote   = '"' * every
	escape  = '\\' * every
	needHex = 6 // \uXXXX
)

// next skips white space and returns the byte behind it, which stays. At the
// end of the data that is zero.
func (d *decoder) next() byte {
	for {
		c := d.data[d.pos]
		if c > ' ' || !isSpace(c) {
			return c
		}
		d.pos++
	}
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }

// stringEnd finds the closing quote of the string whose content starts at i.
// plain says that its content is what stands there: no escapes, valid UTF-8.
// It returns -1 after an error.
func (d *decoder) stringEnd(i int) (end int, plain bool) {
	data := d.data
	plain = true
	ascii := true
	start := i
	for {
		if i+8 > len(data) {
			d.pos = d.end
			d.unexpected("in string literal")
			return -1, false
		}
		w := binary.LittleEndian.Uint64(data[i:])
		// The high bit of each byte that is a quote, a backslash, a control
		// character or not ASCII; above the first such byte also of others.
		m := ((w - space) | ((w ^ quote) - every) | ((w ^ escape) - every) | w) & high
		if m == 0 {
			i += 8
			continue
		}
		i += bits.TrailingZeros64(m) / 8
		switch c := data[i]; {
		case c == '"' && i < d.end:
			if !ascii && plain && !utf8.Valid(data[start:i]) {
				plain = false
			}
			return i, plain
		case c == '\\':
			plain = false
			n := d.escapeLength(i)
			if n == 0 {
				return -1, false
			}
			i += n
		case c >= utf8.RuneSelf:
			ascii = false
			i++
		default:
			d.pos = i
			d.unexpected("in string literal")
			return -1, false
		}
	}
}

// escapeLength is the length of the escape sequence at i, 0 after an error.
func (d *decoder) escapeLength(i int) int {
	switch d.data[i+1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		for n := 2; n < needHex; n++ {
			if !isHex(d.data[i+n]) {
				d.pos = i + n
				d.unexpected("in \\u hexadecimal character escape")
				return 0
			}
		}
		return needHex
	}
	d.pos = i + 1
	d.unexpected("in string escape code")
	return 0
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}

// bytes reads the string at pos. The result is valid until the next call.
func (d *decoder) bytes() ([]byte, bool) {
	start := d.pos + 1
	end, plain := d.stringEnd(start)
	if end < 0 {
		return nil, false
	}
	d.pos = end + 1
	if plain {
		return d.data[start:end], true
	}
	d.unquoted = appendUnquoted(d.unquoted[:0], d.data[start:end])
	return d.unquoted, true
}

// literal reads the rest of a literal, whose first byte the caller knows.
func (d *decoder) literal(text string) bool {
	for i := 1; i < len(text); i++ {
		if d.data[d.pos+i] != text[i] {
			d.pos += i
			d.unexpected("in literal " + text)
			return false
		}
	}
	d.pos += len(text)
	return true
}

// number reads the number at pos.
func (d *decoder) number() (text []byte, ok bool) {
	data, i := d.data, d.pos
	if data[i] == '-' {
		i++
	}
	switch c := data[i]; {
	case c == '0':
		i++
	case '1' <= c && c <= '9':
		i = digits(data, i)
	default:
		d.pos = i
		d.unexpected("in numeric literal")
		return nil, false
	}
	if data[i] == '.' {
		if i++; !isDigit(data[i]) {
			d.pos = i
			d.unexpected("after decimal point in numeric literal")
			return nil, false
		}
		i = digits(data, i)
	}
	if data[i] == 'e' || data[i] == 'E' {
		if i++; data[i] == '+' || data[i] == '-' {
			i++
		}
		if !isDigit(data[i]) {
			d.pos = i
			d.unexpected("in exponent of numeric literal")
			return nil, false
		}
		i = digits(data, i)
	}
	if i >= d.end && !d.ended {
		// It may go on.
		d.pos = i
		d.unexpected("in numeric literal")
		return nil, false
	}
	text = data[d.pos:i]
	d.pos = i
	return text, true
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func digits(data []byte, i int) int {
	for isDigit(data[i]) {
		i++
	}
	return i
}

// raw reads any value and returns its text, valid until the window moves.
func (d *decoder) raw() ([]byte, bool) {
	start := d.pos
	if !d.skip() {
		return nil, false
	}
	return d.data[start:d.pos], true
}

// skip reads any value. Its syntax is checked as if it were decoded.
func (d *decoder) skip() bool {
	switch c := d.data[d.pos]; c {
	case '"':
		end, _ := d.stringEnd(d.pos + 1)
		d.pos = end + 1
		return end >= 0
	case '{':
		if !d.enter() {
			return false
		}
		if d.next() == '}' {
			return d.leave()
		}
		for {
			if d.next() != '"' {
				return d.unexpected("looking for beginning of object key string")
			}
			end, _ := d.stringEnd(d.pos + 1)
			if end < 0 {
				return false
			}
			d.pos = end + 1
			if !d.colon() || !d.skip() {
				return false
			}
			switch d.next() {
			case ',':
				d.pos++
			case '}':
				return d.leave()
			default:
				return d.unexpected("after object key:value pair")
			}
		}
	case '[':
		if !d.enter() {
			return false
		}
		if d.next() == ']' {
			return d.leave()
		}
		for {
			d.next()
			if !d.skip() {
				return false
			}
			switch d.next() {
			case ',':
				d.pos++
			case ']':
				return d.leave()
			default:
				return d.unexpected("after array element")
			}
		}
	case 't':
		return d.literal("true")
	case 'f':
		return d.literal("false")
	case 'n':
		return d.literal("null")
	default:
		if c != '-' && !isDigit(c) {
			return d.unexpected("looking for beginning of value")
		}
		_, ok := d.number()
		return ok
	}
}

// enter steps into an object or array.
func (d *decoder) enter() bool {
	d.pos++
	if d.depth++; d.depth > maxDepth {
		return d.fail(errTooDeep)
	}
	return true
}

// leave steps behind the end of an object or array.
func (d *decoder) leave() bool {
	d.pos++
	d.depth--
	return true
}

// colon reads what stands between a name and its value.
func (d *decoder) colon() bool {
	if d.data[d.pos] != ':' && d.next() != ':' {
		return d.unexpected("after object key")
	}
	d.pos++
	d.next()
	return true
}
