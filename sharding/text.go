package sharding

import (
	"cmp"
	"errors"
	"fmt"
	"github.com/kubewright/kubewright/runtime/shard"
	"slices"
	"strconv"
	"strings"
)

// Tables and reports are text in annotations, with a line for each range, which is what `kubectl get -o yaml`
// shows best:
//
//	protocol 1
//	field object.metadata.namespace
//	kinds bakeries.shop.example.com cakes.shop.example.com
//	generation 17
//	0000000000000000 baker-a-x7k2p token 16 objects 120
//	4000000000000000 baker-b-9wq4d token 17 objects 80 to baker-c-m2bnt part 30
//	8000000000000000 - token 3 objects 0

const (
	// protocol is the version of the rules and of the texts. Members of another version don't take part.
	protocol = 1
	// nobody stands for the owner of a free range.
	nobody = "-"
)

// text returns the text that parseTable reads.
func (t table) text() (string, error) {
	if err := t.check(); err != nil {
		return "", err
	}
	text := appendHeader(make([]byte, 0, 256+96*len(t.Ranges)), t.Field, t.Kinds)
	text = fmt.Appendf(text, "generation %d\n", t.Generation)
	for _, e := range t.Ranges {
		text = fmt.Appendf(text, "%016x %s token %d objects %d",
			e.First, cmp.Or(e.Owner, nobody), e.Token, e.Objects)
		if e.To != "" {
			text = fmt.Appendf(text, " to %s", e.To)
		}
		if e.Part > 0 {
			text = fmt.Appendf(text, " part %d", e.Part)
		}
		text = append(text, '\n')
	}
	if len(text) > maxTable {
		return "", fmt.Errorf("the table has %d bytes, more than %d", len(text), maxTable)
	}
	return string(text), nil
}

func appendHeader(text []byte, field shard.Field, kinds []string) []byte {
	return fmt.Appendf(text, "protocol %d\nfield %s\nkinds %s\n", protocol, field, strings.Join(kinds, " "))
}

// parseTable reads a table and checks it.
func parseTable(text string) (table, error) {
	p := &parser{rest: text}
	var t table
	t.Field, t.Kinds = p.header()
	p.nextLineOf("generation")
	t.Generation = p.number()
	for p.nextLine() {
		e := entry{First: p.hash(), Owner: p.word()}
		if e.Owner == nobody {
			e.Owner = ""
		}
		p.expectWord("token")
		e.Token = p.number()
		p.expectWord("objects")
		e.Objects = int(p.number())
		if len(p.words) > 0 {
			p.expectWord("to")
			e.To = p.word()
		}
		if len(p.words) > 0 {
			p.expectWord("part")
			e.Part = int(p.number())
		}
		t.Ranges = append(t.Ranges, e)
	}
	if p.err != nil {
		return table{}, p.err
	}
	return t, t.check()
}

// parser reads lines of words. After an error it reads nothing more.
type parser struct {
	rest  string
	line  int
	words []string
	err   error
}

func (p *parser) fail(format string, args ...any) {
	if p.err == nil {
		p.err = fmt.Errorf("line %d: "+format, append([]any{p.line}, args...)...)
	}
}

// nextLine goes to the next line, if there is one. All words of the line before it must have been read.
func (p *parser) nextLine() bool {
	if len(p.words) > 0 {
		p.fail("%q is too much", strings.Join(p.words, " "))
	}
	if p.err != nil || p.rest == "" {
		return false
	}
	var line string
	line, p.rest, _ = strings.Cut(p.rest, "\n")
	p.line++
	p.words = strings.Split(line, " ")
	return true
}

// word returns the next word of the line.
func (p *parser) word() string {
	if len(p.words) == 0 || p.words[0] == "" {
		p.fail("a word is missing")
		return ""
	}
	word := p.words[0]
	p.words = p.words[1:]
	return word
}

func (p *parser) expectWord(key string) {
	if word := p.word(); p.err == nil && word != key {
		p.fail("%q stands where %q should", word, key)
	}
}

// number returns the next word, a number that isn't negative.
func (p *parser) number() int64 {
	word := p.word()
	n, err := strconv.ParseInt(word, 10, 64)
	if err != nil || n < 0 {
		p.fail("%q is no number", word)
	}
	return n
}

// hash returns the next word, a hash.
func (p *parser) hash() uint64 {
	word := p.word()
	n, err := strconv.ParseUint(word, 16, 64)
	if err != nil || len(word) != 16 {
		p.fail("%q is no hash of 16 hexadecimal digits", word)
	}
	return n
}

// nextLineOf goes to the next line, which has to begin with key.
func (p *parser) nextLineOf(key string) {
	if !p.nextLine() {
		p.line++
		p.fail("%q is missing", key)
	}
	p.expectWord(key)
}

// errProtocol is the error of a text of another protocol.
var errProtocol = errors.New("another protocol")

func (p *parser) header() (field shard.Field, kinds []string) {
	p.nextLineOf("protocol")
	if n := p.number(); p.err == nil && n != protocol {
		p.err = fmt.Errorf("protocol %d, this program knows %d: %w", n, protocol, errProtocol)
	}
	p.nextLineOf("field")
	field = shard.Field(p.word())
	p.nextLineOf("kinds")
	for p.err == nil && (len(p.words) > 0 || len(kinds) == 0) {
		kinds = append(kinds, p.word())
	}
	if !slices.IsSorted(kinds) {
		p.fail("the kinds aren't sorted")
	}
	return field, kinds
}
