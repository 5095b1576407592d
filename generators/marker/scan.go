package marker

import (
	"go/ast"
	"go/token"
	"iter"
	"strings"
)

// Tag is one line of a comment that starts with a plus sign.
type Tag struct {
	// Name is what stands between the plus sign and the first equals sign,
	// and Value what follows that: "genclient:skipVerbs" and "get,list".
	Name, Value string
	// HasValue tells "+x=" from "+x".
	HasValue bool
	// Text is the line from after the plus sign on.
	Text string
	// Pos is where the plus sign is, by file, line and column; its Offset is
	// not set (go/scanner drops carriage returns, so that it isn't known).
	Pos token.Position
}

// At is the position of the byte at offset of the tag's Text.
func (t Tag) At(offset int) token.Position {
	pos := t.Pos
	pos.Column += 1 + offset
	return pos
}

// ValueAt is the position of the byte at offset of the tag's Value.
func (t Tag) ValueAt(offset int) token.Position {
	return t.At(len(t.Name) + 1 + offset)
}

// Scan returns the tags in comments, in their order; nil groups are skipped.
// A line is a tag when its first character other than a blank is a plus sign.
// A tab before the sign hides the tags of types, as gengo has it.
func Scan(fset *token.FileSet, groups ...*ast.CommentGroup) []Tag {
	return scan(fset, " ", groups)
}

// ScanPackage is Scan by the rule for package comments, where a tab may stand
// before the plus sign as well.
func ScanPackage(fset *token.FileSet, groups ...*ast.CommentGroup) []Tag {
	return scan(fset, " \t", groups)
}

func scan(fset *token.FileSet, indent string, groups []*ast.CommentGroup) []Tag {
	var tags []Tag
	for _, group := range groups {
		if group == nil {
			continue
		}
		for _, comment := range group.List {
			if !strings.Contains(comment.Text, "+") {
				continue
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

func newTag(text string, pos token.Position) Tag {
	// The end of a line is trimmed of everything that go/ast trims.
	text = strings.TrimRight(text, " \t\r\n")
	name, value, ok := strings.Cut(text, "=")
	return Tag{Name: name, Value: value, HasValue: ok, Text: text, Pos: pos}
}

// line is a line within one comment: its number from 0, and the column, from
// 0, where text starts; in the first line counted from the comment's start.
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
