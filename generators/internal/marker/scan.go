package marker

import (
	"go/ast"
	"go/token"
	"iter"
	"strings"
)

// Tag is a line of a comment that starts with a plus sign.
type Tag struct {
	// Name is the text between the plus sign and the first equals sign, Value the
	// text after that: "genclient:skipVerbs" and "get,list".
	Name, Value string
	// HasValue distinguishes "+x=" from "+x".
	HasValue bool
	// Text is the line after the plus sign.
	Text string
	// Pos is the position of the plus sign: file, line and column. Offset is zero,
	// as it can't be known: go/scanner drops carriage returns.
	Pos token.Position
}

// At returns the position of the byte at offset in Text.
func (t Tag) At(offset int) token.Position {
	pos := t.Pos
	pos.Column += 1 + offset
	return pos
}

// ValueAt returns the position of the byte at offset in Value.
func (t Tag) ValueAt(offset int) token.Position {
	return t.At(len(t.Name) + 1 + offset)
}

// Scan returns the tags in comments, in order, and skips nil groups. A line is a tag
// if its first character other than a blank is a plus sign.
//
// A tab before the plus sign hides the tag of a type, but not that of a package:
// gengo trims the former by blanks (ExtractCommentTags) and the latter by all white
// space (codetags).
func Scan(fset *token.FileSet, groups ...*ast.CommentGroup) []Tag {
	return scan(fset, " ", groups)
}

// ScanPackage is [Scan] for package comments, where a tab may precede the plus
// sign.
func ScanPackage(fset *token.FileSet, groups ...*ast.CommentGroup) []Tag {
	return scan(fset, " \t", groups)
}

// scan is Scan with the characters that may precede the plus sign.
func scan(fset *token.FileSet, indent string, groups []*ast.CommentGroup) []Tag {
	var tags []Tag
	for _, group := range groups {
		if group == nil {
			continue
		}
		for _, comment := range group.List {
			if !strings.Contains(comment.Text, "+") {
				continue // most comments: don't split them into lines
			}
			start := fset.Position(comment.Slash)
			for line := range lines(comment.Text) {
				text := strings.TrimLeft(line.text, indent)
				if !strings.HasPrefix(text, "+") {
					continue
				}
				pos := start
				pos.Offset = 0
				pos.Line += line.number
				column := line.column + len(line.text) - len(text)
				if line.number == 0 {
					pos.Column += column
				} else {
					pos.Column = 1 + column
				}
				tags = append(tags, newTag(text[1:], pos))
			}
		}
	}
	return tags
}

// newTag splits a line, without its plus sign, into the parts of a tag.
func newTag(text string, pos token.Position) Tag {
	// CommentGroup.Text of go/ast, which gengo reads, trims the same characters.
	text = strings.TrimRight(text, " \t\r\n")
	name, value, ok := strings.Cut(text, "=")
	return Tag{Name: name, Value: value, HasValue: ok, Text: text, Pos: pos}
}

// line is a line of a comment. number counts from 0; column is where text starts,
// also from 0, in the first line relative to the start of the comment.
type line struct {
	text           string
	number, column int
}

// lines yields the lines of a comment without its delimiters.
func lines(comment string) iter.Seq[line] {
	return func(yield func(line) bool) {
		if strings.HasPrefix(comment, "//") {
			yield(line{comment[2:], 0, 2})
			return
		}
		body := strings.TrimSuffix(strings.TrimPrefix(comment, "/*"), "*/")
		number, column := 0, 2
		for text := range strings.SplitSeq(body, "\n") {
			if !yield(line{text, number, column}) {
				return
			}
			number, column = number+1, 0
		}
	}
}
