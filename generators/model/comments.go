package model

import (
	"cmp"
	"go/ast"
	"go/token"
	"slices"
	"strings"

	"github.com/kubewright/kubewright/generators/marker"
)

// comments finds comment groups by the line that they end on. That is how
// gengo decides what belongs to a type: the comment that ends on the line
// above the type's name, and a second one that ends two lines above where
// that one begins (or two lines above the name when there is no first one).
// In a grouped declaration the comment above "type (" is therefore the second
// comment of the first type.
type comments struct {
	tokens *token.File
	ending map[int]*ast.CommentGroup
}

func newComments(fset *token.FileSet, f *ast.File) comments {
	c := comments{fset.File(f.FileStart), make(map[int]*ast.CommentGroup, len(f.Comments))}
	for _, group := range f.Comments {
		c.ending[c.tokens.Line(group.End())] = group
	}
	return c
}

// of returns the two comments of what is named at pos; each may be nil.
func (c comments) of(pos token.Pos) (closest, second *ast.CommentGroup) {
	line := c.tokens.Line(pos)
	closest = c.ending[line-1]
	if closest != nil {
		line = c.tokens.Line(closest.Pos())
	}
	return closest, c.ending[line-2]
}

// mentions is a quick test for comments that may hold a certain tag; most
// have none but +optional.
func mentions(group *ast.CommentGroup, words ...string) bool {
	return slices.ContainsFunc(group.List, func(c *ast.Comment) bool {
		return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(c.Text, word) })
	})
}

// typeTags reads the tags of each type of a file, the second closest comment
// first, and reports client tags that no type owns.
func (l *loader) typeTags(f *file) map[string][]marker.Tag {
	index := newComments(l.fset, f.syntax)
	tags := map[string][]marker.Tag{}
	owned := map[*ast.CommentGroup]bool{}
	for _, decl := range f.syntax.Decls {
		gen, ok := decl.(*ast.GenDecl)
		if !ok || gen.Tok != token.TYPE {
			continue
		}
		for _, spec := range gen.Specs {
			name := spec.(*ast.TypeSpec).Name
			closest, second := index.of(name.Pos())
			owned[closest], owned[second] = true, true
			if found := marker.Scan(l.fset, second, closest); len(found) > 0 {
				tags[name.Name] = found
			}
		}
	}
	for _, group := range f.syntax.Comments {
		if owned[group] || !mentions(group, "genclient") {
			continue
		}
		for _, tag := range marker.Scan(l.fset, group) {
			if marker.IsClientTag(tag.Name) {
				l.lax(tag.Pos, "+%s %s; put it directly above a type, or with one blank line between", tag.Name, l.misplaced(f, index, group))
			}
		}
	}
	return tags
}

// misplaced says in words what a comment without a type belongs to.
func (l *loader) misplaced(f *file, index comments, group *ast.CommentGroup) string {
	const nothing = "is in a comment that no type owns and has no effect"
	line := index.tokens.Line(group.End())
	for _, decl := range f.syntax.Decls {
		if group.Pos() > decl.Pos() && group.End() < decl.End() {
			if name := member(decl, group); name != "" {
				return "is above the " + name + ", which is not a type"
			}
			return nothing
		}
		gap := index.tokens.Line(decl.Pos()) - line
		if gap != 1 && gap != 2 {
			continue
		}
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			return "is above the func " + decl.Name.Name + ", which is not a type"
		case *ast.GenDecl:
			if decl.Tok != token.TYPE {
				return "is above the " + specName(decl.Tok, decl.Specs) + ", which is not a type"
			}
		}
	}
	return nothing
}

// member names the field or the grouped constant or variable that follows a
// comment within a declaration.
func member(decl ast.Decl, group *ast.CommentGroup) string {
	type candidate struct {
		pos  token.Pos
		name string
	}
	var after []candidate
	add := func(pos token.Pos, name string) {
		if pos > group.End() {
			after = append(after, candidate{pos, name})
		}
	}
	ast.Inspect(decl, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BlockStmt:
			return false
		case *ast.StructType:
			for _, field := range n.Fields.List {
				name := typeName(field.Type)
				if len(field.Names) > 0 {
					name = field.Names[0].Name
				}
				add(field.Pos(), "field "+name)
			}
		case *ast.ValueSpec:
			add(n.Pos(), specName(decl.(*ast.GenDecl).Tok, []ast.Spec{n}))
		}
		return true
	})
	if len(after) == 0 {
		return ""
	}
	return slices.MinFunc(after, func(a, b candidate) int { return cmp.Compare(a.pos, b.pos) }).name
}

// specName is "const X", "var X" or "import".
func specName(kind token.Token, specs []ast.Spec) string {
	if len(specs) > 0 {
		if value, ok := specs[0].(*ast.ValueSpec); ok {
			return kind.String() + " " + value.Names[0].Name
		}
	}
	return kind.String()
}

// packageTags reads what doc.go says, and returns the package tags elsewhere,
// which have no effect.
func (l *loader) packageTags(p *source) (pkg marker.Package, elsewhere []marker.Tag) {
	var doc []marker.Tag
	for _, f := range p.files {
		if f.syntax != nil && f.isDoc() {
			doc = marker.ScanPackage(l.fset, f.syntax.Comments...)
		}
	}
	pkg, problems := marker.ParsePackage(doc, l.cfg.Strict)
	l.problems = append(l.problems, problems...)
	for _, f := range p.files {
		if f.syntax == nil || f.isDoc() {
			continue
		}
		for _, group := range f.syntax.Comments {
			if !mentions(group, "groupName", "groupGoName", "-gen") {
				continue
			}
			for _, tag := range marker.ScanPackage(l.fset, group) {
				if !marker.IsPackageTag(tag.Name) || slices.ContainsFunc(doc, func(t marker.Tag) bool { return t.Text == tag.Text }) {
					continue
				}
				elsewhere = append(elsewhere, tag)
			}
		}
	}
	return pkg, elsewhere
}
