package crd

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// comment returns a description as the lines of a comment. Generators take a line that begins with a plus
// sign for a tag, and leave out one that begins with TODO, and what follows three dashes, so such lines are
// quoted.
func comment(description string) []string {
	text := strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && (unicode.IsControl(r) || r == '\ufeff' || r == utf8.RuneError) {
			return -1
		}
		return r
	}, strings.ReplaceAll(description, "\r\n", "\n"))
	var lines []string
	inCode := false
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimRightFunc(line, unicode.IsSpace)
		if strings.HasPrefix(line, "```") || strings.HasPrefix(line, "~~~") {
			inCode = !inCode
		}
		if strings.HasPrefix(strings.TrimSpace(line), "+") ||
			!inCode && (strings.HasPrefix(line, "TODO") || strings.HasPrefix(line, "---")) {
			line = "'" + strings.TrimSpace(line) + "'"
		}
		if line != "" || len(lines) > 0 && lines[len(lines)-1] != "" { // as in the text of a comment
			lines = append(lines, line)
		}
	}
	if n := len(lines) - 1; n > 0 && lines[n] == "" {
		return lines[:n]
	}
	return lines
}
