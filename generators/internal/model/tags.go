package model

import (
	"cmp"
	"go/ast"
	"go/token"
	"slices"
	"strings"

	"github.com/kubewright/kubewright/generators/internal/marker"
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

// forDeclaration returns the two comments of the declaration whose name is at pos. Each may be nil.
func (c comments) forDeclaration(pos token.Pos) (closest, second *ast.CommentGroup) {
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
	owned := map[*ast.CommentGroup]bool{}
	tags := ownedTags(s.fset, f.syntax, func(group *ast.CommentGroup) { owned[group] = true })
	for group := range owned {
		s.checkTabs(group)
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
			where, inside := misplaced(f, index, group)
			advice := "put it directly above a type, or with one blank line between"
			next, adjacent := following(f, group)
			tagged := slices.ContainsFunc(tags[next],
				func(t marker.Tag) bool { return marker.IsClientTag(t.Name) })
			dead := false // true if no client is missing because of it
			switch {
			case where == "":
				// The tag was most likely meant for the type right below, which is too far away
				// to own it. A tag that stands alone is for kube_codegen.sh, which finds packages
				// by searching for the word.
				where, dead = "is in a comment that no type owns and has no effect", !adjacent || tagged
			case tagged && !inside:
				// Constants were written between a type and its tags, which were then repeated.
				advice, dead = "remove it: type "+next+" below has tags of its own", true
			}
			s.Report(dead || !s.cfg.Strict, tag.Pos, "+%s %s; %s", tag.Name, where, advice)
		}
	}
	return tags
}

// ownedTags returns the tags of each type of a file, and calls visit for the comments that types own.
func ownedTags(fset *token.FileSet, f *ast.File, visit func(*ast.CommentGroup)) map[string][]marker.Tag {
	index := newComments(fset, f)
	tags := map[string][]marker.Tag{}
	for _, decl := range f.Decls {
		gen, ok := decl.(*ast.GenDecl)
		if !ok || gen.Tok != token.TYPE {
			continue
		}
		for _, spec := range gen.Specs {
			name := spec.(*ast.TypeSpec).Name
			closest, second := index.forDeclaration(name.Pos())
			visit(closest)
			visit(second)
			if found := marker.Scan(fset, second, closest); len(found) > 0 {
				tags[name.Name] = found
			}
		}
	}
	return tags
}

// checkTabs warns of client tags behind a tab, which gengo doesn't see: it trims blanks only.
func (s *session) checkTabs(group *ast.CommentGroup) {
	if group == nil || !mentions(group, "genclient") {
		return
	}
	seen := marker.Scan(s.fset, group)
	for _, tag := range marker.ScanPackage(s.fset, group) {
		if marker.IsClientTag(tag.Name) && !slices.Contains(seen, tag) {
			s.Warnf(tag.Pos, "a tab hides +%s; write a blank in its place", tag.Name)
		}
	}
}

// following returns the first exported struct that is declared after a comment, "" if there is
// none. adjacent is true if no other declaration is between them.
func following(f *file, group *ast.CommentGroup) (name string, adjacent bool) {
	adjacent = true
	for _, decl := range f.syntax.Decls {
		if decl.Pos() < group.End() {
			continue
		}
		if gen, ok := decl.(*ast.GenDecl); ok && gen.Tok == token.TYPE && len(gen.Specs) > 0 {
			spec := gen.Specs[0].(*ast.TypeSpec)
			if _, isStruct := spec.Type.(*ast.StructType); isStruct && spec.Name.IsExported() {
				return spec.Name.Name, adjacent
			}
		}
		adjacent = false
	}
	return "", false
}

// misplaced describes the declaration below a comment that belongs to no type, "" if there is
// none, and reports whether the comment is inside of a declaration.
func misplaced(f *file, index comments, group *ast.CommentGroup) (where string, inside bool) {
	line := index.tokens.Line(group.End())
	for _, decl := range f.syntax.Decls {
		if group.Pos() > decl.Pos() && group.End() < decl.End() {
			if name := member(decl, group); name != "" {
				return "is above the " + name + ", which is not a type", true
			}
			return "", true
		}
		// The distances at which a comment would belong to a type.
		gap := index.tokens.Line(decl.Pos()) - line
		if gap != 1 && gap != 2 {
			continue
		}
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			return "is above the func " + decl.Name.Name + ", which is not a type", false
		case *ast.GenDecl:
			if decl.Tok != token.TYPE {
				return "is above the " + specName(decl.Tok, decl.Specs) + ", which is not a type", false
			}
		}
	}
	return "", false
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
