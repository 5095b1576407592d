package decode

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"reflect"
	"strconv"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// scanner reads the tokens of JSON text.
//
// Its methods expect the token at pos, and leave pos behind it. They return false after an
// error, which is in err. Most of these errors are errMore: the value hasn't arrived completely.
//
// The methods read data without comparing pos with end for each byte: every loop ends in the
// padding, and unexpected then distinguishes a syntax error from data that hasn't arrived.
type scanner struct {
	// data[pos:end] is to be decoded; padding follows.
	data     []byte
	pos, end int
	// ended means that the stream ends at end.
	ended bool
	// depth is the number of objects and arrays that pos is in.
	depth int
	// err is the first error, path the names and indexes that lead to it, innermost
	// first, as far as they are known.
	err  error
	path []string
	// unquoted holds the last string that had escapes.
	unquoted []byte
}

// errMore means that the data ends in the middle of a value.
var errMore = errors.New("more data needed")

// ErrTooDeep is the error for a value that is nested deeper than encoding/json reads.
var ErrTooDeep = errors.New("exceeded max depth")

// maxDepth is how deep values may nest, as in encoding/json.
const maxDepth = 10000

// Words of eight equal bytes, to look at eight bytes of a string at once.
const (
	every  = 0x0101010101010101
	high   = 0x80 * every
	space  = 0x20 * every
	quote  = '"' * every
	escape = '\\' * every
)

// needHex is the length of \uXXXX.
const needHex = 6

// resetTo makes the scanner read what begins at in's position.
func (s *scanner) resetTo(in *input) {
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

// unexpected records that the byte at pos isn't allowed there. At the end of the data, where
// pos is in the padding, the error is errMore if the stream goes on. It returns false.
func (s *scanner) unexpected(where string) bool {
	if s.pos >= s.end {
		if s.ended {
			return s.fail(io.ErrUnexpectedEOF)
		}
		return s.fail(errMore)
	}
	return s.fail(fmt.Errorf("invalid character %q %s", s.data[s.pos], where))
}

// unexpectedAt is unexpected for the byte at i.
func (s *scanner) unexpectedAt(i int, where string) bool {
	s.pos = i
	return s.unexpected(where)
}

// mismatch records that a value of this kind can't be stored in a t. It returns false.
func (s *scanner) mismatch(found string, t reflect.Type) bool {
	return s.fail(&TypeError{Found: found, Type: t})
}

// next skips white space and returns the next byte, zero at the end of the data. It doesn't
// consume that byte. API servers write no white space, hence one comparison comes first.
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

// openBracket consumes the bracket that opens an object or array.
func (s *scanner) openBracket() bool {
	s.pos++
	if s.depth++; s.depth > maxDepth {
		return s.fail(ErrTooDeep)
	}
	return true
}

// closeBracket consumes the bracket that closes an object or array.
func (s *scanner) closeBracket() bool {
	s.pos++
	s.depth--
	return true
}

// open consumes the bracket that opens an object or array. If it is empty, open consumes
// end, too, and returns true for empty.
func (s *scanner) open(end byte) (empty, ok bool) {
	if !s.openBracket() {
		return false, false
	}
	if s.next() == end {
		return true, s.closeBracket()
	}
	return false, true
}

// another consumes the comma before the next value, or end. where is for the error.
func (s *scanner) another(end byte, where string) (more, ok bool) {
	switch s.next() {
	case ',':
		s.pos++
		s.next()
		return true, true
	case end:
		return false, s.closeBracket()
	}
	return false, s.unexpected(where)
}

// colon consumes the colon between a name and its value, and white space around it.
func (s *scanner) colon() bool {
	if s.data[s.pos] != ':' && s.next() != ':' {
		return s.unexpected("after object key")
	}
	s.pos++
	s.next()
	return true
}

// stringEnd finds the closing quote of the string whose content starts at i. plain means
// that the content needs no decoding: it has no escapes and is valid UTF-8. stringEnd
// returns -1 after an error.
//
// It looks at eight bytes at once. Most of a response is in strings, names included. Byte by
// byte, a relist of known objects, which does little else, would take 1.5 times as long.
// The test is "hasless" of Sean Anderson's Bit Twiddling Hacks: subtracting 1 from a byte
// that is zero sets its high bit.
func (s *scanner) stringEnd(i int) (end int, plain bool) {
	data := s.data
	plain = true
	ascii := true
	start := i
	for {
		// Only an unfinished string reaches the last bytes of the padding.
		if i+8 > len(data) {
			return -1, s.unexpectedAt(s.end, "in string literal")
		}
		w := binary.LittleEndian.Uint64(data[i:])
		// m has the high bit of each byte that is a quote, a backslash, a control
		// character, or not ASCII. Borrows may set it in bytes above the first such
		// byte, but only the first counts.
		m := ((w - space) | ((w ^ quote) - every) | ((w ^ escape) - every) | w) & high
		if m == 0 {
			i += 8
			continue
		}
		i += bits.TrailingZeros64(m) / 8
		switch c := data[i]; {
		case c == '"' && i < s.end:
			// ASCII, the usual case, needs no second look.
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
			return -1, s.unexpectedAt(i, "in string literal")
		}
	}
}

// escapeLength returns the length of the escape sequence at i, 0 after an error.
func (s *scanner) escapeLength(i int) int {
	switch s.data[i+1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		for n := 2; n < needHex; n++ {
			if !isHex(s.data[i+n]) {
				s.unexpectedAt(i+n, "in \\u hexadecimal character escape")
				return 0
			}
		}
		return needHex
	}
	s.unexpectedAt(i+1, "in string escape code")
	return 0
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}

// bytes reads the string at pos and returns its content, valid until the next call. It is
// a part of data if possible, so that nothing is copied for names and known strings.
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

// literal reads true, false or null, whose first byte the caller has seen.
func (s *scanner) literal(text string) bool {
	for i := 1; i < len(text); i++ {
		if s.data[s.pos+i] != text[i] {
			return s.unexpectedAt(s.pos+i, "in literal "+text)
		}
	}
	s.pos += len(text)
	return true
}

// number reads the number at pos and returns its text, valid until the window moves.
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
		return nil, s.unexpectedAt(i, "in numeric literal")
	}
	if data[i] == '.' {
		if i++; !isDigit(data[i]) {
			return nil, s.unexpectedAt(i, "after decimal point in numeric literal")
		}
		i = digits(data, i)
	}
	if data[i] == 'e' || data[i] == 'E' {
		if i++; data[i] == '+' || data[i] == '-' {
			i++
		}
		if !isDigit(data[i]) {
			return nil, s.unexpectedAt(i, "in exponent of numeric literal")
		}
		i = digits(data, i)
	}
	if i >= s.end && !s.ended {
		// More digits may follow.
		return nil, s.unexpectedAt(i, "in numeric literal")
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

// raw reads any value and returns its text, valid until the window moves. The syntax is
// checked.
func (s *scanner) raw() ([]byte, bool) {
	start := s.pos
	if !s.skip() {
		return nil, false
	}
	return s.data[start:s.pos], true
}

// skip reads any value. Its syntax is checked as if it were decoded. Skipping an object
// takes a fifth of the time of decoding it, and no memory. skip doesn't call open and
// another: with these calls a relist takes 7% longer.
func (s *scanner) skip() bool {
	switch c := s.data[s.pos]; c {
	case '"':
		end, _ := s.stringEnd(s.pos + 1)
		s.pos = end + 1
		return end >= 0
	case '{':
		if !s.openBracket() {
			return false
		}
		if s.next() == '}' {
			return s.closeBracket()
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
				return s.closeBracket()
			default:
				return s.unexpected("after object key:value pair")
			}
		}
	case '[':
		if !s.openBracket() {
			return false
		}
		if s.next() == ']' {
			return s.closeBracket()
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
				return s.closeBracket()
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

// appendUnquoted appends the decoded content of a JSON string, whose escapes are
// well-formed. Halves of surrogate pairs and bytes of invalid UTF-8 become U+FFFD each, as
// in encoding/json.
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

// appendEscaped appends the character of the escape at the start of text, and returns the
// length of the escape.
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
	r, _ := strconv.ParseUint(string(text[:4]), 16, 16)
	return rune(r)
}
