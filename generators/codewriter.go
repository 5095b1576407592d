package generators

import (
	"fmt"
	"strings"
)

// codeWriter writes the lines of a function's body, each at its depth.
type codeWriter struct {
	text  strings.Builder
	depth int
}

// line writes a line at the current depth.
func (w *codeWriter) line(format string, args ...any) {
	for range w.depth {
		w.text.WriteByte('\t')
	}
	if len(args) == 0 {
		w.text.WriteString(format)
	} else {
		fmt.Fprintf(&w.text, format, args...)
	}
	w.text.WriteByte('\n')
}

// open writes a line after which the depth is one more.
func (w *codeWriter) open(format string, args ...any) {
	w.line(format, args...)
	w.depth++
}

// close writes a line before which the depth is one less.
func (w *codeWriter) close(text string) {
	w.depth--
	w.line("%s", text)
}
