package model

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
)

// hasMethod reports whether a Go file of the package declares a method of a type. Files that build
// constraints exclude count: whoever builds the package may set their tags. The file at path except, which
// is about to be replaced, doesn't count.
func (s *source) hasMethod(receiver, method, except string) bool {
	if strings.HasPrefix(method, "DeepCopy") {
		if slices.ContainsFunc(s.copies, func(m copyMethod) bool {
			return m.receiver == receiver && m.decl.Name.Name == method && m.file.path != except
		}) {
			return true
		}
	} else if slices.Contains(s.methods[receiver], method) {
		return true
	}
	return slices.ContainsFunc(s.files, func(f *file) bool {
		return f.syntax == nil && f.path != except && f.read() && declaresMethod(f.text, receiver, method)
	})
}

// methodLine matches the line of a method in a file that wasn't parsed.
var methodLine = regexp.MustCompile(`^func \((?:\w+ )?\*?(\w+)(?:\[[^\]]*\])?\) (\w+)\(`)

// declaresMethod reports whether the text of a file declares a method.
func declaresMethod(text []byte, receiver, method string) bool {
	word := []byte(") " + method + "(")
	if !bytes.Contains(text, word) {
		return false
	}
	for line := range bytes.Lines(text) {
		if !bytes.Contains(line, word) {
			continue
		}
		if match := methodLine.FindSubmatch(line); match != nil && string(match[1]) == receiver &&
			string(match[2]) == method {
			return true
		}
	}
	return false
}
