package model

import (
	"cmp"
	"go/ast"
	"go/token"
	"slices"
	"strings"

	"github.com/kubewright/kubewright/generators/marker"
)

// comments finds comment groups by the line on which they end. That is how gengo
// assigns comments to a type (docComment and priorDetachedComment in
// parser/parse.go): the closest comment ends on the line above the name of the type,
// and the second closest ends two lines above the start of the closest one, or two
// lines above the name if there is none. So in a grouped declaration the comment above
// "type (" is the second closest of the first type.
type comments struct {
	tokens *token.File
	ending map[int]*ast.CommentGroup
}

// newComments indexes the comments of a file.
func newComments(fset *token.FileSet, f *ast.File) comments {
	c := comments{fset.File(f.FileStart), make(map[int]*ast.CommentGroup, len(f.Comments))}
	for _, group := range f.Comments {
		c.ending[c.tokens.Line(group.End())] = group
	}
	return c
}

// of returns the two comments of the declaration whose name is at pos. Each may be nil.
func (c comments) of(pos token.Pos) (closest, second *ast.CommentGroup) {
	line := c.tokens.Line(pos)
	closest = c.ending[line-1]
	if closest != nil {
		line = c.tokens.Line(closest.Pos())
	}
	return closest, c.ending[line-2]
}

// mentions reports whether a comment has one of the words. It is a cheap filter
// before tags are parsed: most comments have none, or only +optional.
func mentions(group *ast.CommentGroup, words ...string) bool {
	return slices.ContainsFunc(group.List, func(c *ast.Comment) bool {
		return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(c.Text, word) })
	})
}

// typeTags returns the tags of each type of a file, those of the second closest
// comment first, and reports client tags in other comments: code-generator ignores
// those silently.
func (s *session) typeTags(f *file) map[string][]marker.Tag {
	index := newComments(s.fset, f.syntax)
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
			if found := marker.Scan(s.fset, second, closest); len(found) > 0 {
				tags[name.Name] = found
			}
		}
	}
	// Field comments and the like. A tag there is most likely one that lost its type.
	for _, group := range f.syntax.Comments {
		if owned[group] || !mentions(group, "genclient") {
			continue
		}
		for _, tag := range marker.Scan(s.fset, group) {
			if !marker.IsClientTag(tag.Name) {
				continue
			}
			where, dead := misplaced(f, index, group), false
			if where == "" {
				where, dead = "is in a comment that no type owns and has no effect", !lost(f, group, tags)
			}
			// Nobody misses a client whose tag stands alone: kube_codegen.sh searches for
			// the word, so people write it somewhere to have a package found.
			s.Report(dead || !s.cfg.Strict, tag.Pos,
				"+%s %s; put it directly above a type, or with one blank line between", tag.Name, where)
		}
	}
	return tags
}

// lost reports whether the declaration that follows a comment, too far below it to own it,
// is an exported struct without tags of the client: it was most likely meant to have this one.
func lost(f *file, group *ast.CommentGroup, tags map[string][]marker.Tag) bool {
	i := slices.IndexFunc(f.syntax.Decls, func(d ast.Decl) bool { return d.Pos() > group.End() })
	if i < 0 {
		return false
	}
	gen, ok := f.syntax.Decls[i].(*ast.GenDecl)
	if !ok || gen.Tok != token.TYPE || len(gen.Specs) == 0 {
		return false
	}
	spec := gen.Specs[0].(*ast.TypeSpec)
	_, isStruct := spec.Type.(*ast.StructType)
	return isStruct && spec.Name.IsExported() && !slices.ContainsFunc(tags[spec.Name.Name],
		func(t marker.Tag) bool { return marker.IsClientTag(t.Name) })
}

// misplaced describes what a comment that belongs to no type is above, "" if nothing.
func misplaced(f *file, index comments, group *ast.CommentGroup) string {
	line := index.tokens.Line(group.End())
	for _, decl := range f.syntax.Decls {
		if group.Pos() > decl.Pos() && group.End() < decl.End() {
			if name := member(decl, group); name != "" {
				return "is above the " + name + ", which is not a type"
			}
			return ""
		}
		// The distances at which a comment would belong to a type.
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
	return ""
}

// member returns the field, or the constant or variable of a group, that follows a
// comment inside a declaration, "" if there is none.
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

// specName returns "const X", "var X" or "import".
func specName(kind token.Token, specs []ast.Spec) string {
	if len(specs) > 0 {
		if value, ok := specs[0].(*ast.ValueSpec); ok {
			return kind.String() + " " + value.Names[0].Name
		}
	}
	return kind.String()
}

// packageTags parses the tags of doc.go. elsewhere are package tags in other files,
// which have no effect.
func (s *session) packageTags(p *source) (pkg marker.Package, elsewhere []marker.Tag) {
	doc := s.docTags(p)
	pkg, problems := marker.ParsePackage(doc, s.cfg.Strict)
	s.Problems = append(s.Problems, problems...)
	for _, f := range p.files {
		if f.syntax == nil || f.isDoc() {
			continue
		}
		// A tag that doc.go has as well does no harm here.
		for _, group := range f.syntax.Comments {
			if !mentions(group, "groupName", "groupGoName", "-gen") {
				continue
			}
			for _, tag := range marker.ScanPackage(s.fset, group) {
				if !marker.IsPackageTag(tag.Name) ||
					slices.ContainsFunc(doc, func(t marker.Tag) bool { return t.Text == tag.Text }) {
					continue
				}
				elsewhere = append(elsewhere, tag)
			}
		}
	}
	return pkg, elsewhere
}
