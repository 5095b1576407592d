package move

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"os"
	"slices"
	"strconv"
)

// splice replaces a part of a text.
type splice struct {
	from, to int
	text     string
}

// spliced returns a text with its parts replaced. They must not overlap.
func spliced(text []byte, parts []splice) []byte {
	slices.SortStableFunc(parts, func(a, b splice) int { return cmp.Compare(a.from, b.from) })
	var out bytes.Buffer
	at := 0
	for _, p := range parts {
		out.Write(text[at:p.from])
		out.WriteString(p.text)
		at = p.to
	}
	out.Write(text[at:])
	return out.Bytes()
}

// candidates returns a text with its parts replaced: formatted, if it was formatted before, and as it is.
func candidates(text []byte, parts []splice) ([][]byte, error) {
	plain := spliced(text, parts)
	before, err := format.Source(text)
	if err != nil {
		return nil, err
	}
	if !bytes.Equal(before, text) {
		return [][]byte{plain}, nil
	}
	after, err := format.Source(plain)
	if err != nil {
		return nil, err
	}
	return [][]byte{after, plain}, nil
}

// source is a parsed file, with positions in its text.
type source struct {
	name   string
	text   []byte
	files  *token.FileSet
	syntax *ast.File
}

func parseSource(name string, text []byte) (*source, error) {
	files := token.NewFileSet()
	syntax, err := parser.ParseFile(files, name, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	return &source{name, text, files, syntax}, nil
}

func readSource(name string) (*source, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	return parseSource(name, text)
}

func (s *source) offset(p token.Pos) int { return s.files.PositionFor(p, false).Offset }

func (s *source) line(p token.Pos) int { return s.files.PositionFor(p, false).Line }

// lineEnd returns the offset of the end of the line at an offset, without its line break.
func (s *source) lineEnd(offset int) int {
	if n := bytes.IndexByte(s.text[offset:], '\n'); n >= 0 {
		return offset + n
	}
	return len(s.text)
}

// lineStart returns the offset of the start of the line at an offset.
func (s *source) lineStart(offset int) int { return bytes.LastIndexByte(s.text[:offset], '\n') + 1 }

// alone reports whether a line has nothing but the text between two offsets and, after it, the given text. It
// returns the offsets of the whole line, with its line break.
func (s *source) alone(from, to int, after string) (start, end int, ok bool) {
	start, end = s.lineStart(from), s.lineEnd(to)
	before, rest := bytes.TrimSpace(s.text[start:from]), bytes.TrimSpace(s.text[to:end])
	return start, min(end+1, len(s.text)), len(before) == 0 && string(rest) == after
}

// pathOf returns the path of an import.
func pathOf(spec *ast.ImportSpec) string {
	path, err := strconv.Unquote(spec.Path.Value)
	if err != nil {
		return ""
	}
	return path
}

// importEdits changes the import paths of a file.
func (s *source) importEdits(paths map[string]string) (parts []splice) {
	for _, spec := range s.syntax.Imports {
		to := paths[pathOf(spec)]
		if to == "" {
			continue
		}
		quote := spec.Path.Value[:1]
		parts = append(parts, splice{s.offset(spec.Path.Pos()), s.offset(spec.Path.End()), quote + to + quote})
	}
	return parts
}

// there returns the file with its imports moved, and with the option in the literals at these offsets. Of the
// ways to format it, it takes one that back reverses.
func there(name string, text []byte, literals []int) ([]byte, error) {
	s, err := parseSource(name, text)
	if err != nil {
		return nil, err
	}
	parts := s.importEdits(movesOf(false))
	options, err := s.optionEdits(literals)
	if err != nil {
		return nil, err
	}
	found, err := candidates(text, append(parts, options...))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	for _, moved := range found {
		if reversed, err := back(name, moved); err == nil && bytes.Equal(reversed[0], text) {
			return moved, nil
		}
	}
	return found[0], nil
}

// back returns the file without what there has changed, in the ways to format it, the best first.
func back(name string, text []byte) ([][]byte, error) {
	s, err := parseSource(name, text)
	if err != nil {
		return nil, err
	}
	found, err := candidates(text, append(s.importEdits(movesOf(true)), s.optionRemovals()...))
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: it can't be formatted", name), err)
	}
	return found, nil
}
