package move

import (
	"bytes"
	"errors"
	"go/ast"
	"go/token"
)

const (
	// optionField is the field of manager.Options, and optionName the name under which files import our caches.
	optionField = "NewCache"
	optionName  = "kwctrl"
)

// errNameTaken is the error of a file that declares the name of our import itself.
var errNameTaken = errors.New("the name " + optionName + " means something else in this file; import " +
	ownManagers + " under another name")

// optionEdits adds our caches to the composite literals whose braces open at these offsets, and imports them.
func (s *source) optionEdits(literals []int) (parts []splice, err error) {
	if len(literals) == 0 {
		return nil, nil
	}
	name, imported := s.nameOf(ownManagers)
	if !imported {
		if name = optionName; s.uses(name) > 0 {
			return nil, errNameTaken
		}
		parts = append(parts, s.importEdit(name, ownManagers))
	}
	value := optionField + ": " + name + ".NewCaches(" + name + ".Options{}).NewCache"
	ast.Inspect(s.syntax, func(n ast.Node) bool {
		literal, ok := n.(*ast.CompositeLit)
		if !ok {
			return true
		}
		for _, offset := range literals {
			if s.offset(literal.Lbrace) == offset {
				parts = append(parts, s.optionEdit(literal, value))
			}
		}
		return true
	})
	return parts, nil
}

// optionEdit adds the option to a literal, as its first field: on a line of its own if the fields are.
func (s *source) optionEdit(literal *ast.CompositeLit, value string) splice {
	at := s.offset(literal.Lbrace) + 1
	if len(literal.Elts) == 0 {
		return splice{at, at, value}
	}
	first, end := s.offset(literal.Elts[0].Pos()), s.lineEnd(at)
	rest := bytes.TrimSpace(s.text[at:end])
	if first < end || len(rest) > 0 && !bytes.HasPrefix(rest, []byte("//")) {
		return splice{at, at, value + ", "}
	}
	start := s.lineStart(first)
	indent := s.text[start:first]
	if len(bytes.TrimSpace(indent)) > 0 {
		indent = nil
	}
	return splice{end, end, "\n" + string(indent) + value + ","}
}

// importEdit adds an import below that of controller-runtime, or below the last one.
func (s *source) importEdit(name, path string) splice {
	spec := name + ` "` + path + `"`
	var anchor *ast.ImportSpec
	found := false
	for _, i := range s.syntax.Imports {
		is := pathOf(i) == controllers || pathOf(i) == managers
		if is || !found {
			anchor = i
		}
		found = found || is
	}
	if anchor == nil {
		end := s.lineEnd(s.offset(s.syntax.Name.End()))
		return splice{end, end, "\n\nimport " + spec}
	}
	end := s.lineEnd(s.offset(anchor.End()))
	for _, decl := range s.syntax.Decls {
		block, ok := decl.(*ast.GenDecl)
		if ok && block.Pos() <= anchor.Pos() && anchor.End() <= block.End() && block.Lparen.IsValid() {
			return splice{end, end, "\n\t" + spec}
		}
	}
	return splice{end, end, "\nimport " + spec}
}

// nameOf returns the name under which the file imports a package whose own name is optionName.
func (s *source) nameOf(path string) (name string, imported bool) {
	for _, spec := range s.syntax.Imports {
		switch {
		case pathOf(spec) != path:
		case spec.Name == nil:
			return optionName, true
		case spec.Name.Name != "_" && spec.Name.Name != ".":
			return spec.Name.Name, true
		}
	}
	return "", false
}

// uses returns how often a name occurs in the file, without imports.
func (s *source) uses(name string) (n int) {
	ast.Inspect(s.syntax, func(node ast.Node) bool {
		if _, ok := node.(*ast.ImportSpec); ok {
			return false
		}
		if id, ok := node.(*ast.Ident); ok && id.Name == name {
			n++
		}
		return true
	})
	return n
}

// optionRemovals removes what optionEdits adds.
func (s *source) optionRemovals() (parts []splice) {
	name, imported := s.nameOf(ownManagers)
	if !imported {
		return nil
	}
	ast.Inspect(s.syntax, func(n ast.Node) bool {
		literal, ok := n.(*ast.CompositeLit)
		if !ok {
			return true
		}
		for i, e := range literal.Elts {
			if isOption(e, name) {
				parts = append(parts, s.optionRemoval(literal, i))
			}
		}
		return true
	})
	// The option has the name twice.
	if len(parts) > 0 && s.uses(name) == 2*len(parts) {
		parts = append(parts, s.importRemoval(ownManagers))
	}
	return parts
}

// isOption reports whether an element of a literal is our caches without options.
func isOption(element ast.Expr, name string) bool {
	pair, ok := element.(*ast.KeyValueExpr)
	if !ok || !isName(pair.Key, optionField) {
		return false
	}
	method, ok := pair.Value.(*ast.SelectorExpr)
	if !ok || method.Sel.Name != "NewCache" {
		return false
	}
	call, ok := method.X.(*ast.CallExpr)
	if !ok || len(call.Args) != 1 || !isQualified(call.Fun, name, "NewCaches") {
		return false
	}
	options, ok := call.Args[0].(*ast.CompositeLit)
	return ok && len(options.Elts) == 0 && isQualified(options.Type, name, "Options")
}

func isName(e ast.Expr, name string) bool {
	id, ok := e.(*ast.Ident)
	return ok && id.Name == name
}

func isQualified(e ast.Expr, pkg, name string) bool {
	selector, ok := e.(*ast.SelectorExpr)
	return ok && selector.Sel.Name == name && isName(selector.X, pkg)
}

// optionRemoval removes an element of a literal.
func (s *source) optionRemoval(literal *ast.CompositeLit, i int) splice {
	element := literal.Elts[i]
	from, to := s.offset(element.Pos()), s.offset(element.End())
	if start, end, ok := s.alone(from, to, ","); ok {
		return splice{start, end, ""}
	}
	switch {
	case i+1 < len(literal.Elts):
		return splice{from, s.offset(literal.Elts[i+1].Pos()), ""}
	case i > 0:
		return splice{s.offset(literal.Elts[i-1].End()), to, ""}
	}
	return splice{from, to, ""}
}

// importRemoval removes the import of a path: its line, if there is nothing else.
func (s *source) importRemoval(path string) splice {
	for _, decl := range s.syntax.Decls {
		block, ok := decl.(*ast.GenDecl)
		if !ok || block.Tok != token.IMPORT {
			continue
		}
		for _, spec := range block.Specs {
			spec := spec.(*ast.ImportSpec)
			if pathOf(spec) != path {
				continue
			}
			var node ast.Node = spec
			if !block.Lparen.IsValid() {
				node = block
			}
			from, to := s.offset(node.Pos()), s.offset(node.End())
			if start, end, ok := s.alone(from, to, ""); ok {
				return s.withBlankLine(start, end)
			}
			return splice{from, to, ""}
		}
	}
	return splice{}
}

// withBlankLine removes a line. If it stands alone below the package's name, as importEdit puts it there, its
// blank line goes, too.
func (s *source) withBlankLine(start, end int) splice {
	if len(s.syntax.Imports) == 1 && start > 0 && bytes.HasSuffix(s.text[:start], []byte("\n\n")) {
		start--
	}
	return splice{start, end, ""}
}

// optionLines returns the lines with our caches as an option.
func (s *source) optionLines() (lines []int) {
	name, imported := s.nameOf(ownManagers)
	if !imported {
		return nil
	}
	ast.Inspect(s.syntax, func(n ast.Node) bool {
		if literal, ok := n.(*ast.CompositeLit); ok {
			for _, e := range literal.Elts {
				if isOption(e, name) {
					lines = append(lines, s.line(e.Pos()))
				}
			}
		}
		return true
	})
	return lines
}
