package main

import (
	"fmt"
	"io"
	"os"

	"golang.org/x/term"
)

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// terminalWidth returns the columns of a terminal, 0 if w is none.
func terminalWidth(w io.Writer) int {
	if f, ok := w.(*os.File); ok {
		if width, _, err := term.GetSize(int(f.Fd())); err == nil {
			return width
		}
	}
	return 0
}

// hasEscapes reports whether w is a terminal that understands escape sequences. Without TERM,
// as in the old Windows console, that is unknown, and the result is false.
func hasEscapes(w io.Writer) bool {
	kind := os.Getenv("TERM")
	return isTerminal(w) && kind != "" && kind != "dumb"
}

// hasColours reports whether text on w may have colours; see https://no-color.org.
func hasColours(w io.Writer) bool { return hasEscapes(w) && os.Getenv("NO_COLOR") == "" }

// count is a number and a noun, whose plural ends in s.
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
