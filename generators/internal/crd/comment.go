package crd

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// comment returns a description as the lines of a comment. Generators take a line that begins with a plus
// sign for a tag, so such lines are quoted.
func comment(description string) []string {
	text := strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && (unicode.IsControl(r) || r == '\ufeff' || r == utf8.RuneError) {
			return -1
		}
		return r
	}, strings.ReplaceAll(description, "\r\n", "\n"))
	var lines []string
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimRightFunc(line, unicode.IsSpace)
		if strings.HasPrefix(strings.TrimSpace(line), "+") {
			line = "'" + strings.TrimSpace(line) + "'"
		}
		if line != "" || len(lines) > 0 {
			lines = append(lines, line)
		}
	}
	for len(lines) > 0 && lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}
