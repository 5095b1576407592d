package decode

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"reflect"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// scanner reads the tokens of JSON text.
type scanner struct {
	// data[pos:end] is to be decoded; padding follows.
	data     []byte
	pos, end int
	// ended says that nothing will follow behind end.
	ended bool
	depth int
	// err is why a function returned false; path is where, innermost last, if
	// it is known.
	err  error
	path []string
	// unquoted holds the string that was read last, if it had escapes.
	unquoted []byte
}

var (
	// errMore says that the data end in the middle of a value.
	errMore    = errors.New("more data needed")
	errTooDeep = errors.New("exceeded max depth")
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

// begin prepares for a value at in's position.
func (s *scanner) begin(in *input) {
	s.data, s.pos, s.end, s.ended = in.data, in.pos, in.end, in.err != nil
	s.depth, s.err, s.path = 0, nil, s.path[:0]
}

// fail records an error. It returns false.
func (s *scanner) fail(err error) bool {
	if s.err == nil {
		s.err = err
	}
	return false
}

// unexpected records that the byte at pos can't stand there: an error of syntax
// unless the data simply end.
func (s *scanner) unexpected(where string) bool {
	if s.pos >= s.end {
		if s.ended {
			return s.fail(io.ErrUnexpectedEOF)
		}
		return s.fail(errMore)
	}
	return s.fail(fmt.Errorf("invalid character %q %s", s.data[s.pos], where))
}

// mismatch records that there is no way to store this kind of value in a t.
func (s *scanner) mismatch(value string, t reflect.Type) bool {
	return s.fail(fmt.Errorf("cannot unmarshal %s into a Go value of type %v", value, t))
}

// in records the step of the path that an error is below.
func (s *scanner) in(step string) bool {
	if s.err != errMore {
		s.path = append(s.path, step)
	}
	return false
}

// location is the path to the last error.
func (s *scanner) location() string {
	var b strings.Builder
	for i := len(s.path) - 1; i >= 0; i-- {
		b.WriteString(s.path[i])
	}
	return strings.TrimPrefix(b.String(), ".")
}

// next skips white space and returns the byte behind it, which stays. At the
// end of the data that is zero.
func (s *scanner) next() byte {
	for {
		c := s.data[s.pos]
		if c > ' ' || !isSpace(c) {
			return c
		}
		s.pos++
	}
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }

// enter steps into an object or array.
func (s *scanner) enter() bool {
	s.pos++
	if s.depth++; s.depth > maxDepth {
		return s.fail(errTooDeep)
	}
	return true
}

// leave steps behind the end of an object or array.
func (s *scanner) leave() bool {
	s.pos++
	s.depth--
	return true
}

// open steps into an array. It returns true for empty if there is nothing in it
// and it is closed again.
func (s *scanner) open(end byte) (empty, ok bool) {
	if !s.enter() {
		return false, false
	}
	if s.next() == end {
		return true, s.leave()
	}
	return false, true
}

// another steps over the comma to the next value, or behind the end.
func (s *scanner) another(end byte, where string) (more, ok bool) {
	switch s.next() {
	case ',':
		s.pos++
		s.next()
		return true, true
	case end:
		return false, s.leave()
	}
	return false, s.unexpected(where)
}

// colon reads what stands between a name and its value.
func (s *scanner) colon() bool {
	if s.data[s.pos] != ':' && s.next() != ':' {
		return s.unexpected("after object key")
	}
	s.pos++
	s.next()
	return true
}

// stringEnd finds the closing quote of the string whose content starts at i.
// plain says that its content is what stands there: no escapes, valid UTF-8.
// It returns -1 after an error.
func (s *scanner) stringEnd(i int) (end int, plain bool) {
	data := s.data
	plain = true
	ascii := true
	start := i
	for {
		if i+8 > len(data) {
			s.pos = s.end
			s.unexpected("in string literal")
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
		case c == '"' && i < s.end:
			if !ascii && plain && !utf8.Valid(data[start:i]) {
				plain = false
			}
			return i, plain
		case c == '\\':
			plain = false
			n := s.escapeLength(i)
			if n == 0 {
				return -1, false
			}
			i += n
		case c >= utf8.RuneSelf:
			ascii = false
			i++
		default:
			s.pos = i
			s.unexpected("in string literal")
			return -1, false
		}
	}
}

// escapeLength is the length of the escape sequence at i, 0 after an error.
func (s *scanner) escapeLength(i int) int {
	switch s.data[i+1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		for n := 2; n < needHex; n++ {
			if !isHex(s.data[i+n]) {
				s.pos = i + n
				s.unexpected("in \\u hexadecimal character escape")
				return 0
			}
		}
		return needHex
	}
	s.pos = i + 1
	s.unexpected("in string escape code")
	return 0
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}

// bytes reads the string at pos. The result is valid until the next call.
func (s *scanner) bytes() ([]byte, bool) {
	start := s.pos + 1
	end, plain := s.stringEnd(start)
	if end < 0 {
		return nil, false
	}
	s.pos = end + 1
	if plain {
		return s.data[start:end], true
	}
	s.unquoted = appendUnquoted(s.unquoted[:0], s.data[start:end])
	return s.unquoted, true
}

// literal reads the rest of a literal, whose first byte the caller knows.
func (s *scanner) literal(text string) bool {
	for i := 1; i < len(text); i++ {
		if s.data[s.pos+i] != text[i] {
			s.pos += i
			s.unexpected("in literal " + text)
			return false
		}
	}
	s.pos += len(text)
	return true
}

// number reads the number at pos.
func (s *scanner) number() (text []byte, ok bool) {
	data, i := s.data, s.pos
	if data[i] == '-' {
		i++
	}
	switch c := data[i]; {
	case c == '0':
		i++
	case '1' <= c && c <= '9':
		i = digits(data, i)
	default:
		s.pos = i
		s.unexpected("in numeric literal")
		return nil, false
	}
	if data[i] == '.' {
		if i++; !isDigit(data[i]) {
			s.pos = i
			s.unexpected("after decimal point in numeric literal")
			return nil, false
		}
		i = digits(data, i)
	}
	if data[i] == 'e' || data[i] == 'E' {
		if i++; data[i] == '+' || data[i] == '-' {
			i++
		}
		if !isDigit(data[i]) {
			s.pos = i
			s.unexpected("in exponent of numeric literal")
			return nil, false
		}
		i = digits(data, i)
	}
	if i >= s.end && !s.ended {
		// It may go on.
		s.pos = i
		s.unexpected("in numeric literal")
		return nil, false
	}
	text = data[s.pos:i]
	s.pos = i
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
func (s *scanner) raw() ([]byte, bool) {
	start := s.pos
	if !s.skip() {
		return nil, false
	}
	return s.data[start:s.pos], true
}

// skip reads any value. Its syntax is checked as if it were decoded.
func (s *scanner) skip() bool {
	switch c := s.data[s.pos]; c {
	case '"':
		end, _ := s.stringEnd(s.pos + 1)
		s.pos = end + 1
		return end >= 0
	case '{':
		if !s.enter() {
			return false
		}
		if s.next() == '}' {
			return s.leave()
		}
		for {
			if s.next() != '"' {
				return s.unexpected("looking for beginning of object key string")
			}
			end, _ := s.stringEnd(s.pos + 1)
			if end < 0 {
				return false
			}
			s.pos = end + 1
			if !s.colon() || !s.skip() {
				return false
			}
			switch s.next() {
			case ',':
				s.pos++
			case '}':
				return s.leave()
			default:
				return s.unexpected("after object key:value pair")
			}
		}
	case '[':
		if !s.enter() {
			return false
		}
		if s.next() == ']' {
			return s.leave()
		}
		for {
			s.next()
			if !s.skip() {
				return false
			}
			switch s.next() {
			case ',':
				s.pos++
			case ']':
				return s.leave()
			default:
				return s.unexpected("after array element")
			}
		}
	case 't':
		return s.literal("true")
	case 'f':
		return s.literal("false")
	case 'n':
		return s.literal("null")
	default:
		if c != '-' && !isDigit(c) {
			return s.unexpected("looking for beginning of value")
		}
		_, ok := s.number()
		return ok
	}
}

// appendUnquoted appends what the content of a JSON string stands for. The
// escapes are known to be well-formed. Halves of surrogate pairs and invalid
// UTF-8 become U+FFFD, one for each byte, as in encoding/json.
func appendUnquoted(to, content []byte) []byte {
	for i := 0; i < len(content); {
		c := content[i]
		if c == '\\' {
			var n int
			to, n = appendEscaped(to, content[i:])
			i += n
			continue
		}
		if c < utf8.RuneSelf {
			to = append(to, c)
			i++
			continue
		}
		r, size := utf8.DecodeRune(content[i:])
		to = utf8.AppendRune(to, r)
		i += size
	}
	return to
}

// appendEscaped appends what the escape at the start of text stands for, and
// returns its length.
func appendEscaped(to, text []byte) ([]byte, int) {
	switch c := text[1]; c {
	case 'b':
		return append(to, '\b'), 2
	case 'f':
		return append(to, '\f'), 2
	case 'n':
		return append(to, '\n'), 2
	case 'r':
		return append(to, '\r'), 2
	case 't':
		return append(to, '\t'), 2
	case 'u':
		r := hex4(text[2:])
		if !utf16.IsSurrogate(r) {
			return utf8.AppendRune(to, r), needHex
		}
		if len(text) >= 2*needHex && text[needHex] == '\\' && text[needHex+1] == 'u' {
			if pair := utf16.DecodeRune(r, hex4(text[needHex+2:])); pair != unicode.ReplacementChar {
				return utf8.AppendRune(to, pair), 2 * needHex
			}
		}
		return utf8.AppendRune(to, unicode.ReplacementChar), needHex
	default:
		return append(to, c), 2
	}
}

func hex4(text []byte) rune {
	var r rune
	for _, c := range text[:4] {
		switch {
		case c <= '9':
			c -= '0'
		case c <= 'F':
			c -= 'A' - 10
		default:
			c -= 'a' - 10
		}
		r = r<<4 | rune(c)
	}
	return r
}
