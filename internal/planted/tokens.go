package planted

import (
	"go/scanner"
	"go/token"
	"slices"
)

// span is a part of a text.
type span struct{ from, to int }

// lexeme is a token of Go, at its place in a text.
type lexeme struct {
	span
	kind    token.Token
	literal string
}

// occurrences returns where a text has another one, by tokens.
func occurrences(text, part string) []span {
	all, wanted := lexemes(text), lexemes(part)
	if len(wanted) == 0 {
		return nil
	}
	same := func(a, b lexeme) bool { return a.kind == b.kind && a.literal == b.literal }
	var found []span
	for i := range len(all) - len(wanted) + 1 {
		if window := all[i : i+len(wanted)]; slices.EqualFunc(window, wanted, same) {
			found = append(found, span{window[0].from, window[len(wanted)-1].to})
		}
	}
	return found
}

// lexemes returns the tokens of a text, without what depends on line breaks: the semicolon or comma before a
// closing bracket, and the semicolon at the end.
func lexemes(text string) []lexeme {
	files := token.NewFileSet()
	file := files.AddFile("", -1, len(text))
	var s scanner.Scanner
	s.Init(file, []byte(text), func(token.Position, string) {}, 0)
	var all []lexeme
	for {
		pos, kind, literal := s.Scan()
		if kind == token.SEMICOLON {
			literal = ";" // also for one that a line break stands for
		}
		ends := kind == token.EOF || kind == token.RPAREN || kind == token.RBRACK || kind == token.RBRACE
		if last := len(all) - 1; ends && last >= 0 &&
			(all[last].kind == token.SEMICOLON || all[last].kind == token.COMMA && kind != token.EOF) {
			all = all[:last]
		}
		if kind == token.EOF {
			return all
		}
		if literal == "" {
			literal = kind.String()
		}
		from := file.Offset(pos)
		all = append(all, lexeme{span{from, from + len(literal)}, kind, literal})
	}
}
