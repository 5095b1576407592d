package shard

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// end is the bound after the last hash, 2^64.
const end = "0x10000000000000000"

func bound(hash uint64) string { return fmt.Sprintf("0x%016x", hash) }

// after returns the bound after a hash, which ends a range.
func after(hash uint64) string {
	if hash == math.MaxUint64 {
		return end
	}
	return bound(hash + 1)
}

// Selector returns the ShardSelector of a request for the objects in some ranges:
//
//	shardRange(object.metadata.uid, '0x0000000000000000', '0x8000000000000000') || shardRange(...)
//
// It returns an error if there are no ranges, because to the API server an empty selector means all objects,
// and if the field can't be hashed.
func Selector(field Field, ranges Ranges) (string, error) {
	if err := field.Check(); err != nil {
		return "", err
	}
	if len(ranges) == 0 {
		return "", errors.New("no ranges: an empty shard selector would select everything")
	}
	var text strings.Builder
	for i, r := range ranges {
		if i > 0 {
			text.WriteString(" || ")
		}
		fmt.Fprintf(&text, "shardRange(%s, '%s', '%s')", field, bound(r.First), after(r.Last))
	}
	return text.String(), nil
}

// ParseSelector returns the field and the ranges of a ShardSelector. It parses the API server's language
// except for comments, escapes in strings, and parentheses around expressions, which nobody writes. Blanks
// may stand between all parts, and ranges may overlap. Errors contain the position in the text.
func ParseSelector(text string) (Field, Ranges, error) {
	p := &selectorParser{text: text}
	field, ranges, err := p.selector()
	if err != nil {
		return "", nil, fmt.Errorf("shard selector, at byte %d: %w", p.at, err)
	}
	return field, ranges, nil
}

// selectorParser parses a selector. at is the position of the next byte, or of an error.
type selectorParser struct {
	text string
	at   int
}

func (p *selectorParser) selector() (field Field, ranges Ranges, err error) {
	if p.skipBlanks(); p.at == len(p.text) {
		return "", nil, errors.New("it is empty; leave the selector out to select everything")
	}
	for {
		p.skipBlanks()
		start := p.at
		f, r, err := p.shardRange()
		switch {
		case err != nil:
			return "", nil, err
		case field != "" && f != field:
			p.at = start
			return "", nil, fmt.Errorf("all ranges must be of one field, these are of %s and %s", field, f)
		}
		field, ranges = f, append(ranges, r)
		if p.skipBlanks(); p.at == len(p.text) {
			return field, Join(ranges...), nil
		}
		if err := p.expect("||"); err != nil {
			return "", nil, err
		}
	}
}

// shardRange reads shardRange(field, 'first', 'after the last').
func (p *selectorParser) shardRange() (field Field, r Range, err error) {
	if err := p.expect("shardRange"); err != nil {
		return "", r, err
	}
	if err := p.expect("("); err != nil {
		return "", r, err
	}
	if field, err = p.field(); err != nil {
		return "", r, err
	}
	if err := p.expect(","); err != nil {
		return "", r, err
	}
	first, endless, err := p.bound()
	if err != nil {
		return "", r, err
	}
	if endless {
		return "", r, fmt.Errorf("a range can't begin at %s", end)
	}
	if err := p.expect(","); err != nil {
		return "", r, err
	}
	start := p.at
	behind, endless, err := p.bound()
	switch {
	case err != nil:
		return "", r, err
	case !endless && behind <= first:
		p.at = start
		return "", r, fmt.Errorf("the range begins at %s and ends at %s", bound(first), bound(behind))
	}
	return field, Range{first, behind - 1}, p.expect(")") // For 2^64, behind is 0.
}

// field reads a path, with blanks around its dots.
func (p *selectorParser) field() (Field, error) {
	p.skipBlanks()
	start := p.at
	var path strings.Builder
	for {
		p.skipBlanks()
		word := p.at
		for p.at < len(p.text) && isLetter(p.text[p.at]) {
			p.at++
		}
		path.WriteString(p.text[word:p.at])
		if p.skipBlanks(); p.at == len(p.text) || p.text[p.at] != '.' {
			break
		}
		path.WriteByte('.')
		p.at++
	}
	field := Field(path.String())
	if err := field.Check(); err != nil {
		p.at = start
		return "", err
	}
	return field, nil
}

// bound reads a bound in quotation marks. endless is set for 2^64, whose value is 0.
func (p *selectorParser) bound() (value uint64, endless bool, err error) {
	p.skipBlanks()
	start := p.at
	rest := p.text[p.at:]
	if rest == "" || rest[0] != '\'' && rest[0] != '"' {
		return 0, false, p.unexpected("a bound in quotation marks")
	}
	text, _, closed := strings.Cut(rest[1:], rest[:1])
	if !closed {
		return 0, false, errors.New("the quotation mark isn't closed")
	}
	if text != end {
		digits, prefixed := strings.CutPrefix(text, "0x")
		value, err = strconv.ParseUint(digits, 16, 64)
		if err != nil || !prefixed || len(digits) != 16 || strings.ToLower(digits) != digits {
			p.at = start
			return 0, false, fmt.Errorf("bound %.30q isn't 0x and 16 lower-case digits, nor %s", text, end)
		}
	}
	p.at += len(text) + 2
	return value, text == end, nil
}

// expect reads a word or sign.
func (p *selectorParser) expect(want string) error {
	p.skipBlanks()
	if !strings.HasPrefix(p.text[p.at:], want) {
		return p.unexpected(strconv.Quote(want))
	}
	p.at += len(want)
	return nil
}

func (p *selectorParser) unexpected(want string) error {
	if p.at == len(p.text) {
		return fmt.Errorf("it ends where %s should stand", want)
	}
	return fmt.Errorf("%.20q stands where %s should", p.text[p.at:], want)
}

func (p *selectorParser) skipBlanks() {
	for p.at < len(p.text) && strings.IndexByte(" \t\n\f\r", p.text[p.at]) >= 0 {
		p.at++
	}
}

func isLetter(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }
