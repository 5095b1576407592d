package output

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/pmezard/go-difflib/difflib"
)

// WriteDiff writes the changes that Apply would make: a unified diff from the disk to the
// generated files, and a line for each stale file. For files with the line ends of Windows the
// diff leaves those out, and a line says so. With colours the lines have escape sequences for
// a terminal.
func (p *Plan) WriteDiff(w io.Writer, colours bool) error {
	// A buffered writer keeps its first error until Flush.
	d := differ{bufio.NewWriter(w), colours}
	for _, path := range p.Changed {
		from, text := path, p.set.Files[path]
		old, exists := p.old[path]
		_, lineEnds := slices.BinarySearch(p.LineEnds, path)
		switch {
		case !exists:
			from = "/dev/null"
		case lineEnds:
			d.line(bold, path+" differs in its line ends only: it has CRLF, not LF\n")
			continue
		case hasCRLF(old) && !hasCRLF(text):
			d.line(bold, path+" has line ends CRLF, not LF; and it differs:\n")
			old = toLF(old)
		}
		d.file(from, path, old, text)
	}
	for _, path := range p.Stale {
		d.line(red, path+" is stale: it is not generated from these packages\n")
	}
	return d.Flush()
}

// sameButLineEnds reports whether a file that differs from the text to be generated only has
// the line ends of Windows, as git writes them there.
func sameButLineEnds(old, text []byte) bool { return bytes.Equal(toLF(old), text) }

func hasCRLF(text []byte) bool { return bytes.Contains(text, []byte("\r\n")) }

func toLF(text []byte) []byte { return bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")) }

// colour is the number of a colour in an escape sequence. These are git's.
type colour int

const (
	plain colour = 0
	bold  colour = 1
	red   colour = 31
	green colour = 32
	cyan  colour = 36
)

// differ writes the lines of diffs.
type differ struct {
	*bufio.Writer
	colours bool
}

// line writes a line, which may lack its end.
func (d differ) line(c colour, text string) {
	text, ended := strings.CutSuffix(text, "\n")
	if d.colours && c != plain {
		text = fmt.Sprintf("\x1b[%dm%s\x1b[m", c, text)
	}
	d.WriteString(text + "\n")
	if !ended {
		d.WriteString("\\ No newline at end of file\n")
	}
}

// file writes the unified diff of a file, with three lines around each change.
func (d differ) file(from, to string, old, text []byte) {
	d.line(bold, "--- "+from+"\n")
	d.line(bold, "+++ "+to+"\n")
	a, b := lines(old), lines(text)
	for _, group := range difflib.NewMatcher(a, b).GetGroupedOpCodes(3) {
		first, last := group[0], group[len(group)-1]
		d.line(cyan, fmt.Sprintf("@@ -%s +%s @@\n", span(first.I1, last.I2), span(first.J1, last.J2)))
		for _, op := range group {
			if op.Tag == 'e' {
				d.lines(plain, " ", a[op.I1:op.I2])
				continue
			}
			d.lines(red, "-", a[op.I1:op.I2])
			d.lines(green, "+", b[op.J1:op.J2])
		}
	}
}

func (d differ) lines(c colour, mark string, lines []string) {
	for _, line := range lines {
		d.line(c, mark+line)
	}
}

// span formats a range of lines, given by indexes, as unified diffs do.
func span(from, to int) string {
	switch n := to - from; n {
	case 0:
		return fmt.Sprintf("%d,0", from)
	case 1:
		return fmt.Sprint(to)
	default:
		return fmt.Sprintf("%d,%d", from+1, n)
	}
}

// lines splits text into lines, each with its end.
func lines(text []byte) []string {
	split := strings.SplitAfter(string(text), "\n")
	if split[len(split)-1] == "" {
		return split[:len(split)-1]
	}
	return split
}
