package main

import (
	"fmt"
	"strings"
)

// The lines of README between which make bench writes.
const (
	sectionBegin = "<!-- make bench writes what follows -->\n"
	sectionEnd   = "<!-- make bench wrote this -->\n"
)

// cutSection returns the section of README between the two lines, and the text around it, including the
// lines.
func cutSection(readme string) (before, section, after string, err error) {
	before, rest, found := strings.Cut(readme, sectionBegin)
	section, after, ended := strings.Cut(rest, sectionEnd)
	if !found || !ended || strings.Contains(after, sectionBegin) {
		return "", "", "", fmt.Errorf("README.md needs the lines %q and %q, once each", sectionBegin, sectionEnd)
	}
	return before + sectionBegin, section, sectionEnd + after, nil
}

// withSection returns README with another section.
func withSection(readme, section string) (string, error) {
	before, _, after, err := cutSection(readme)
	return before + section + after, err
}
