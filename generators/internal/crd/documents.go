package crd

import (
	"bytes"
	"encoding/json"
	"errors"
	"go/token"
	"io"
	"regexp"
	"slices"
	"sort"

	"go.yaml.in/yaml/v3"
)

// documents parses the source.
func (r *reader) documents(text []byte) []value {
	var docs []value
	text = withoutSurrogates(text)
	nodes, err := parse(text)
	if line := templateLine(text, nodes, err); line > 0 {
		r.Errorf(token.Position{Filename: r.file, Line: line, Column: 1}, "it is a template of Helm, not YAML; "+
			"import what Helm makes of it: helm template CHART | kubewright import -")
		return nil
	}
	for _, node := range nodes {
		docs = append(docs, value{Node: node, r: r}.resolve())
	}
	if err != nil {
		r.Errorf(token.Position{Filename: r.file, Line: errorLine(text, err), Column: 1}, "not YAML: %s",
			syntaxMessage(err))
	} else if len(docs) == 0 {
		r.Report(true, token.Position{Filename: r.file, Line: 1, Column: 1},
			"the file is empty; did the command that wrote it fail?")
	}
	return docs
}

// templateLine returns the line of the first action of a Helm template, 0 if the text isn't one. Actions in
// comments and descriptions don't count: there the text is YAML nevertheless.
func templateLine(text []byte, nodes []*yaml.Node, err error) int {
	if err != nil {
		number := 0
		for line := range bytes.Lines(text) {
			number++
			if comment, _, _ := bytes.Cut(line, []byte("#")); bytes.Contains(comment, []byte("{{")) {
				return number
			}
		}
	}
	for _, node := range nodes {
		if line := templateNode(node); line > 0 {
			return line
		}
	}
	return 0
}

// templateNode returns the line of a value like {{ .Values.name }}, which YAML takes for a mapping with a
// mapping as its key, 0 if there is none.
func templateNode(node *yaml.Node) int {
	if node.Kind == yaml.MappingNode && len(node.Content) > 0 && node.Content[0].Kind == yaml.MappingNode {
		return node.Line
	}
	for _, inner := range node.Content {
		if line := templateNode(inner); line > 0 {
			return line
		}
	}
	return 0
}

// parse returns the documents of a text that aren't empty, up to the first error.
func parse(text []byte) (docs []*yaml.Node, err error) {
	for decoder := yaml.NewDecoder(bytes.NewReader(text)); ; {
		var doc yaml.Node
		switch err := decoder.Decode(&doc); {
		case errors.Is(err, io.EOF):
			return docs, nil
		case err != nil:
			return docs, err
		case len(doc.Content) == 1 && !isNothing(doc.Content[0]):
			docs = append(docs, doc.Content[0])
		}
	}
}

// isNothing reports whether a document has no text. The parser may give it a position after the last line.
func isNothing(doc *yaml.Node) bool {
	return doc.Kind == yaml.ScalarNode && doc.Tag == "!!null" && doc.Value == ""
}

// syntaxLine matches the line number in errors of the parser.
var syntaxLine = regexp.MustCompile(`^(yaml: )?(line \d+: )?`)

// syntaxMessage returns an error of the parser without the line number, which may be missing or that of the
// line before.
func syntaxMessage(err error) string { return syntaxLine.ReplaceAllString(err.Error(), "") }

// errorLine returns the line of an error: the last line of the shortest beginning of the text that has the
// error.
func errorLine(text []byte, err error) int {
	lines := slices.Collect(bytes.Lines(text))
	message := syntaxMessage(err)
	return 1 + sort.Search(len(lines)-1, func(i int) bool {
		_, err := parse(bytes.Join(lines[:i+1], nil))
		return err != nil && syntaxMessage(err) == message
	})
}

// surrogates matches the escapes of a pair of surrogates, and escaped backslashes, so that the second of
// these isn't taken for the beginning of an escape.
var surrogates = regexp.MustCompile(`\\\\|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}`)

// withoutSurrogates replaces the escaped surrogate pairs in JSON, which YAML doesn't have, by the
// characters. It returns any other text unchanged.
func withoutSurrogates(text []byte) []byte {
	if begin := bytes.TrimLeft(text, " \t\r\n"); len(begin) == 0 || begin[0] != '{' && begin[0] != '[' {
		return text
	}
	return surrogates.ReplaceAllFunc(text, func(escape []byte) []byte {
		var s string
		if len(escape) == 2 || json.Unmarshal([]byte(`"`+string(escape)+`"`), &s) != nil {
			return escape
		}
		return []byte(s)
	})
}
