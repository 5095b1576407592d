package crd

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxComment is where long lines of comments are broken.
const maxComment = 100

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
	for line := range strings.SplitSeq(strings.TrimSpace(text), "\n") {
		line = strings.TrimRightFunc(line, unicode.IsSpace)
		if strings.HasPrefix(strings.TrimSpace(line), "+") {
			line = "'" + strings.TrimSpace(line) + "'"
		}
		lines = append(lines, wrap(line)...)
	}
	if len(lines) == 1 && lines[0] == "" {
		return nil
	}
	return lines
}

// wrap breaks a line between words. It leaves an indented one, which is code or a table.
func wrap(line string) []string {
	var lines []string
	if strings.HasPrefix(line, " ") || strings.HasPrefix(line, "\t") {
		return []string{line}
	}
	rest := []rune(line)
	for len(rest) > maxComment {
		end := maxComment
		for end > 0 && rest[end] != ' ' {
			end--
		}
		next := end
		for next < len(rest) && rest[next] == ' ' {
			next++
		}
		if end == 0 || next < len(rest) && rest[next] == '+' { // which would be a tag
			break
		}
		lines = append(lines, strings.TrimRight(string(rest[:end]), " "))
		rest = rest[next:]
	}
	return append(lines, string(rest))
}
