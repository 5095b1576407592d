package render

import (
	"bytes"
	"slices"
	"strings"
)

// assemble returns the final text: the header, the package clause and everything before it
// in body, the imports, and the rest of body with its marks replaced.
func assemble(f File, body []byte) []byte {
	wishes, taken := collect(body)
	for _, name := range f.Reserved {
		taken[name] = true
	}
	// A package doesn't import itself.
	wishes = slices.DeleteFunc(wishes, func(w wish) bool { return w.path == f.Package })
	names := aliases(wishes, taken)

	clause, rest := splitClause(body)
	out := make([]byte, 0, len(f.Header)+len(body)+1024)
	out = append(out, f.Header...)
	out = append(out, bytes.TrimLeft(clause, "\n")...)
	out = appendImports(out, names, f.NamesImports)
	return align(squeeze(out, resolve(rest, f.Package, names)))
}

// splitClause splits body after the package clause.
func splitClause(body []byte) (clause, rest []byte) {
	at := 0
	for line := range bytes.Lines(body) {
		at += len(line)
		if bytes.HasPrefix(line, []byte("package ")) {
			break
		}
	}
	return body[:at], body[at:]
}

// collect returns the packages that body mentions and the names that it reserves.
func collect(body []byte) ([]wish, map[string]bool) {
	seen := map[string]bool{}
	taken := map[string]bool{}
	var wishes []wish
	for {
		_, text, rest, found := cutMark(body)
		if !found {
			return wishes, taken
		}
		body = rest
		if text[0] == markReserve {
			taken[string(text[1:])] = true
		} else if !seen[string(text)] {
			seen[string(text)] = true
			path, alias, _ := strings.Cut(string(text), string(markAlias))
			wishes = append(wishes, wish{path, alias})
		}
	}
}

// cutMark splits body around its first mark; text is the content of the mark.
func cutMark(body []byte) (before, text, after []byte, found bool) {
	start := bytes.IndexByte(body, mark)
	if start < 0 {
		return body, nil, nil, false
	}
	end := start + bytes.IndexByte(body[start:], markEnd)
	return body[:start], body[start+1 : end], body[end+1:], true
}

// appendImports appends the import block: the standard library, then the rest, each sorted
// by path. Only paths of a single element have no alias: the name of any other package is in
// its package clause, which isn't read, and needn't be the last element of the path. With
// always, paths of a single element have one, too.
func appendImports(out []byte, names map[string]string, always bool) []byte {
	if len(names) == 0 {
		return out
	}
	var groups [2][]string
	for path := range names {
		first, _, _ := strings.Cut(path, "/")
		group := 0
		if strings.Contains(first, ".") {
			group = 1
		}
		groups[group] = append(groups[group], path)
	}
	out = append(out, "\nimport (\n"...)
	for i, paths := range groups {
		if i > 0 && len(paths) > 0 && len(groups[0]) > 0 {
			out = append(out, '\n')
		}
		slices.Sort(paths)
		for _, path := range paths {
			out = append(out, '\t')
			if names[path] != path || always {
				out = append(out, names[path]...)
				out = append(out, ' ')
			}
			out = append(out, '"')
			out = append(out, path...)
			out = append(out, '"', '\n')
		}
	}
	return append(out, ")\n\n"...)
}

// resolve replaces the marks of packages by their names and drops other marks. Identifiers
// of the file's own package lose their qualifier.
func resolve(body []byte, own string, names map[string]string) []byte {
	out := make([]byte, 0, len(body))
	for {
		before, text, rest, found := cutMark(body)
		out = append(out, before...)
		if !found {
			return out
		}
		body = rest
		if text[0] == markReserve {
			continue
		}
		path, _, _ := bytes.Cut(text, []byte{markAlias})
		if string(path) == own {
			body = bytes.TrimPrefix(body, []byte("."))
			continue
		}
		out = append(out, names[string(path)]...)
	}
}
