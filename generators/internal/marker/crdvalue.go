package marker

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"text/scanner"
)

// valueKind is the kind of a value in a definition's marker.
type valueKind int

const (
	noValue valueKind = iota
	stringValue
	intValue
	numberValue
	boolValue
	listValue // of elem
	mapValue  // from strings to elem
	anyValue  // what the text looks like
	// Those below are read without the grammar of values: a number, an integer and JSON.
	plainNumber
	plainInt
	jsonValue
)

// valueType is the type of a value. It is optional in a marker that may lack it.
type valueType struct {
	kind     valueKind
	elem     *valueType
	optional bool
}

// valueParser parses values by controller-gen's grammar, which is that of tokens of Go: a string ends before
// a comma, a semicolon or a closing brace, unless it is quoted. The values are string, int, float64, bool,
// []any and map[string]any.
type valueParser struct {
	scanner.Scanner
	text string
	// problem is the first error and offset where it is, "" and -1 if there is none.
	problem string
	offset  int
}

func newValueParser(text string) *valueParser {
	p := &valueParser{text: text, offset: -1}
	p.Init(strings.NewReader(text))
	p.Mode = scanner.ScanIdents | scanner.ScanInts | scanner.ScanFloats | scanner.ScanStrings |
		scanner.ScanRawStrings
	p.Error = func(_ *scanner.Scanner, message string) { p.errorf("%s", message) }
	return p
}

func (p *valueParser) errorf(format string, args ...any) {
	if p.problem == "" {
		p.problem, p.offset = fmt.Sprintf(format, args...), p.Offset
	}
}

// ahead returns a parser for the text that wasn't scanned yet.
func (p *valueParser) ahead() *valueParser { return newValueParser(p.text[p.Pos().Offset:]) }

// peek skips white space and returns the next character.
func (p *valueParser) peek() rune {
	for {
		r := p.Peek()
		if r < 0 || r > ' ' || p.Whitespace&(1<<uint(r)) == 0 {
			return r
		}
		p.Next()
	}
}

// expect scans a token, and reports any other than the wanted one.
func (p *valueParser) expect(token rune, what string) bool {
	if got := p.Scan(); got != token {
		p.errorf("expected %s, not %q", what, p.TokenText())
		return false
	}
	return true
}

// guess returns the type that the next value looks like. With lists it may be a list with semicolons: a
// semicolon follows before the next comma, even inside of braces.
func (p *valueParser) guess(lists bool) valueType {
	ahead := p.ahead()
	if lists {
		item := p.guess(false)
		for {
			switch ahead.Scan() {
			case ';':
				return valueType{kind: listValue, elem: &item}
			case ',', scanner.EOF:
				return item
			}
		}
	}
	switch ahead.peek() {
	case '"', '\'', '`':
		return valueType{kind: stringValue}
	case '{':
		return ahead.guessBraces()
	case 't', 'f':
		ahead.Scan()
		if word := ahead.TokenText(); word == "true" || word == "false" {
			return valueType{kind: boolValue}
		}
		return valueType{kind: stringValue}
	}
	token := ahead.Scan()
	if token == '-' {
		token = ahead.Scan()
	}
	if ahead.problem != "" || token != scanner.Int && token != scanner.Float {
		return valueType{kind: stringValue}
	}
	switch ahead.peek() { // 5m and 2024-01-15 are strings
	case ',', ';', '}', scanner.EOF:
		if token == scanner.Int {
			return valueType{kind: intValue}
		}
		return valueType{kind: numberValue}
	}
	return valueType{kind: stringValue}
}

// guessBraces returns the type of a value in braces: a map if it is empty or if a colon follows the first
// string, a list otherwise.
func (p *valueParser) guessBraces() valueType {
	p.Scan()
	empty := p.peek() == '}'
	first := p.guess(false)
	if first.kind == stringValue {
		p.string(true)
		if token := p.Scan(); token == ':' || empty {
			return valueType{kind: mapValue, elem: &valueType{kind: anyValue}}
		}
	}
	return valueType{kind: listValue, elem: &first}
}

// value parses a value. inList is true for an item of a list, which isn't a list with semicolons.
func (p *valueParser) value(t valueType, inList bool) any {
	switch t.kind {
	case stringValue:
		return p.string(false)
	case intValue, numberValue:
		return p.number(t.kind)
	case boolValue:
		if p.expect(scanner.Ident, "true or false") {
			switch p.TokenText() {
			case "true":
				return true
			case "false":
				return false
			}
			p.errorf("expected true or false, not %q", p.TokenText())
		}
	case listValue:
		return p.list(*t.elem)
	case mapValue:
		return p.object(*t.elem)
	case anyValue:
		return p.value(p.guess(!inList), false)
	}
	return nil
}

// string parses a string. A colon ends one that is the key of a map. White space before the end hides the
// last token, as it does for controller-gen.
func (p *valueParser) string(key bool) string {
	mode := p.Mode
	p.Mode &^= scanner.ScanInts | scanner.ScanFloats // "08" is no wrong number here
	defer func() { p.Mode = mode }()
	if token := p.Scan(); token == scanner.String || token == scanner.RawString {
		text, err := strconv.Unquote(p.TokenText())
		if err != nil {
			p.errorf("%s is no string of Go", p.TokenText())
		}
		return text
	}
	start := p.Offset
	for {
		switch next := p.peek(); {
		case next == ',', next == ';', next == '}', next == scanner.EOF, key && next == ':':
			return p.text[start : p.Offset+len(p.TokenText())]
		}
		p.Scan()
	}
}

func (p *valueParser) number(kind valueKind) any {
	sign := ""
	if p.Peek() == '-' {
		sign = "-"
		p.Scan()
	}
	token := p.Scan()
	text := sign + p.TokenText()
	if kind == intValue {
		n, err := strconv.Atoi(text)
		if token != scanner.Int || err != nil {
			p.errorf("%q is no whole number", text)
		}
		return n
	}
	n, err := strconv.ParseFloat(text, 64)
	if token != scanner.Int && token != scanner.Float || err != nil {
		p.errorf("%q is no number", text)
	}
	return n
}

// list parses a list: {a, b} or a;b.
func (p *valueParser) list(item valueType) any {
	items := []any{}
	if p.peek() == '{' {
		p.Scan()
		for next := p.peek(); next != '}' && next != scanner.EOF; next = p.peek() {
			items = append(items, p.value(item, true))
			if p.peek() == '}' {
				break
			}
			if !p.expect(',', "a comma") {
				return nil
			}
		}
		p.expect('}', "a closing brace")
		return items
	}
	for next := p.peek(); next != ',' && next != '}' && next != scanner.EOF; next = p.peek() {
		items = append(items, p.value(item, true))
		if end := p.peek(); end == ',' || end == '}' || end == scanner.EOF {
			break
		}
		if !p.expect(';', "a semicolon") {
			return nil
		}
	}
	return items
}

// object parses a map: {a: 1, b: x}.
func (p *valueParser) object(elem valueType) any {
	object := map[string]any{}
	if !p.expect('{', "an opening brace") {
		return nil
	}
	for next := p.peek(); next != '}' && next != scanner.EOF; next = p.peek() {
		key := p.string(true)
		if !p.expect(':', "a colon") {
			return nil
		}
		object[key] = p.value(elem, false)
		if p.peek() == '}' {
			break
		}
		if !p.expect(',', "a comma") {
			return nil
		}
	}
	p.expect('}', "a closing brace")
	return object
}

// plain parses a value that the grammar doesn't apply to. A value of a k8s: marker may be followed by a
// comment.
func plain(kind valueKind, name, text string) (any, error) {
	if kind == jsonValue {
		var v any
		if strings.HasPrefix(strings.TrimSpace(text), "ref(") {
			return nil, nil // a constant of Go, which controller-gen doesn't look up
		}
		if err := json.Unmarshal([]byte(text), &v); err != nil {
			return nil, fmt.Errorf("%s is not JSON: %w", text, err)
		}
		return v, nil
	}
	if strings.HasPrefix(name, "k8s:") {
		text, _, _ = strings.Cut(text, "#")
	}
	text = strings.TrimSpace(text)
	if kind == plainInt {
		n, err := strconv.Atoi(text)
		if err != nil {
			return nil, fmt.Errorf("%q is no whole number", text)
		}
		return n, nil
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return nil, fmt.Errorf("%q is no number", text)
	}
	return n, nil
}
