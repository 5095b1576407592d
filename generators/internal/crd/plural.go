package crd

import (
	_ "embed"
	"strings"
	"sync"
	"unicode"
)

//go:embed plurals.txt
var pluralsText string

// ending is the plural of words with an end.
type ending struct{ end, plural string }

// pluralRules are the rules of plurals.txt. The library itself would double the time that commands take to
// start, as it builds its tables whether they are used or not.
type pluralRules struct {
	// words maps words to plurals; plurals are words that stay as they are.
	words           map[string]string
	plurals, isName map[string]bool
	// endings are in the order in which they count.
	endings []ending
}

var plurals = sync.OnceValue(func() pluralRules {
	r := pluralRules{words: map[string]string{}, plurals: map[string]bool{}, isName: map[string]bool{}}
	var ends, compound []ending
	for line := range strings.Lines(pluralsText) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		for _, entry := range strings.Fields(line) {
			forms := strings.Split(strings.TrimLeft(entry, "!>-="), ":")
			switch {
			case entry[0] == '=':
				r.isName[forms[0]] = true
				continue
			case entry[0] == '-':
				ends = append(ends, ending{forms[0], forms[1]})
				continue
			case entry[0] != '!':
				compound = append([]ending{{forms[0], forms[1]}}, compound...)
			}
			r.words[forms[0]] = forms[1]
			for _, plural := range forms[1:] {
				r.plurals[plural] = r.plurals[plural] || entry[0] != '>'
			}
		}
	}
	for _, e := range append(compound, ends...) {
		r.endings = append(r.endings, ending{e.plural, e.plural}, e)
	}
	return r
})

// Plural returns the plural of a kind in lower case, as controller-gen forms it.
func Plural(kind string) string {
	r := plurals()
	last := r.lastPart(kind)
	lower := strings.ToLower(last)
	result := kind
	switch p, ok := r.words[kind]; {
	case ok:
		result = p
	case r.plurals[kind], r.plurals[lower]:
	case r.words[lower] != "":
		result = strings.TrimSuffix(kind, last) + r.words[lower]
	default:
		for _, e := range r.endings {
			if start, ok := strings.CutSuffix(last, e.end); ok {
				return strings.ToLower(strings.TrimSuffix(kind, last) + start + e.plural)
			}
		}
		if !strings.HasSuffix(lower, "s") {
			result += "s"
		}
	}
	return strings.ToLower(result)
}

// lastPart returns the last word of a kind. Acronyms are in capitals, whatever they are in the kind.
func (r pluralRules) lastPart(kind string) string {
	if name := strings.ToUpper(kind); r.isName[name] {
		return name
	}
	start, before := 0, ' '
	for i, c := range kind {
		if unicode.IsUpper(c) && (!unicode.IsUpper(before) || r.isName[strings.ToUpper(kind[start:i])]) {
			start = i
		}
		before = c
	}
	if name := strings.ToUpper(kind[start:]); r.isName[name] {
		return name
	}
	return kind[start:]
}
