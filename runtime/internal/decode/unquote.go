package decode

import (
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

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
