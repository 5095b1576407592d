package marker

import (
	"go/ast"
	"go/token"
	"sort"
	"strings"
)

// CRDLine is a line of a comment that begins with a plus sign, and belongs to a package, a type or a field.
// Text is the line after the plus sign.
type CRDLine struct {
	Text string
	// At is the position of the plus sign.
	At token.Pos
}

// CRDComments are the comments of a file. Their owners are those that controller-gen gives them: a type or a
// field owns its documentation, and the closest other comment between it and what is declared before it.
type CRDComments struct {
	comments []*ast.CommentGroup
	types    map[*ast.TypeSpec]crdOwner
	// Package are the lines that belong to the package: all comments that nothing else owns, except for those
	// inside of declarations and for the documentation of other things than types.
	Package []CRDLine
}

// crdOwner is what a type owns.
type crdOwner struct {
	lines []CRDLine
	doc   *ast.CommentGroup
}

// NewCRDComments finds the owners of a file's comments.
func NewCRDComments(file *ast.File) *CRDComments {
	c := &CRDComments{comments: file.Comments, types: map[*ast.TypeSpec]crdOwner{}}
	for _, group := range c.between(0, file.Package) {
		c.Package = append(c.Package, crdLines(group)...)
	}
	from := file.Package
	for _, decl := range file.Decls {
		var doc *ast.CommentGroup
		gen, isGen := decl.(*ast.GenDecl)
		if isGen {
			doc = gen.Doc
		} else if fn, ok := decl.(*ast.FuncDecl); ok {
			doc = fn.Doc
		}
		others := c.others(from, decl.Pos(), doc)
		from = decl.End()
		if isGen && gen.Tok == token.TYPE && len(others) > 0 && !gen.Lparen.IsValid() {
			c.typ(gen.Specs[0].(*ast.TypeSpec), others[len(others)-1], doc)
			others = others[:len(others)-1]
		} else if isGen && gen.Tok == token.TYPE {
			c.typesIn(gen)
		}
		for _, group := range others {
			c.Package = append(c.Package, crdLines(group)...)
		}
		if isGen && len(gen.Specs) > 0 {
			from = max(from, endOf(gen.Specs[len(gen.Specs)-1]))
		}
	}
	for _, group := range c.between(from, file.FileEnd+1) {
		c.Package = append(c.Package, crdLines(group)...)
	}
	return c
}

// endOf returns the end of a part of a declaration, with the comment behind it.
func endOf(spec ast.Spec) token.Pos {
	var comment *ast.CommentGroup
	switch spec := spec.(type) {
	case *ast.ImportSpec:
		comment = spec.Comment
	case *ast.ValueSpec:
		comment = spec.Comment
	case *ast.TypeSpec:
		comment = spec.Comment
	}
	if comment == nil {
		return spec.End()
	}
	return comment.End()
}

// typesIn finds the comments of the types of a declaration, which has parentheses or no comment but its
// documentation.
func (c *CRDComments) typesIn(gen *ast.GenDecl) {
	from := gen.TokPos
	for _, spec := range gen.Specs {
		typ, ok := spec.(*ast.TypeSpec)
		if !ok {
			continue
		}
		doc := typ.Doc
		if !gen.Lparen.IsValid() {
			doc = gen.Doc
		}
		var closest *ast.CommentGroup
		if others := c.others(from, typ.Pos(), doc); len(others) > 0 {
			closest = others[len(others)-1]
		}
		c.typ(typ, closest, doc)
		from = endOf(typ)
	}
}

// typ sets the lines of a type. Of the closest other comment, lines that only packages can have are the
// package's.
func (c *CRDComments) typ(spec *ast.TypeSpec, closest, doc *ast.CommentGroup) {
	var lines []CRDLine
	for _, line := range crdLines(closest) {
		if LookupCRD(line.Text, OnType) == "" && LookupCRD(line.Text, OnPackage) != "" {
			c.Package = append(c.Package, line)
		} else {
			lines = append(lines, line)
		}
	}
	c.types[spec] = crdOwner{append(lines, crdLines(doc)...), doc}
}

// Type returns the lines of a type, and its documentation.
func (c *CRDComments) Type(spec *ast.TypeSpec) ([]CRDLine, *ast.CommentGroup) {
	return c.types[spec].lines, c.types[spec].doc
}

// Fields returns the lines of each field of a struct.
func (c *CRDComments) Fields(fields *ast.FieldList) [][]CRDLine {
	all := make([][]CRDLine, len(fields.List))
	from := fields.Opening
	for i, field := range fields.List {
		if others := c.others(from, field.Pos(), field.Doc); len(others) > 0 {
			all[i] = crdLines(others[len(others)-1])
		}
		all[i] = append(all[i], crdLines(field.Doc)...)
		from = field.End()
		if field.Comment != nil {
			from = max(from, field.Comment.End())
		}
	}
	return all
}

// between returns the comments that begin between two positions.
func (c *CRDComments) between(from, to token.Pos) []*ast.CommentGroup {
	at := func(pos token.Pos) int {
		return sort.Search(len(c.comments), func(i int) bool { return c.comments[i].Pos() >= pos })
	}
	return c.comments[at(from):at(to)]
}

// others returns the comments between two positions without the documentation, which is the last one.
func (c *CRDComments) others(from, to token.Pos, doc *ast.CommentGroup) []*ast.CommentGroup {
	groups := c.between(from, to)
	if n := len(groups) - 1; n >= 0 && groups[n] == doc {
		return groups[:n]
	}
	return groups
}

// crdLines returns the lines of a comment that begin with a plus sign. Those in /* */ don't count.
func crdLines(group *ast.CommentGroup) []CRDLine {
	if group == nil {
		return nil
	}
	var lines []CRDLine
	for _, comment := range group.List {
		if text, ok := crdText(comment); ok {
			at := comment.Slash + token.Pos(strings.IndexByte(comment.Text, '+'))
			lines = append(lines, CRDLine{text, at})
		}
	}
	return lines
}

// crdText returns the text of a marker after its plus sign, ok false for any other comment.
func crdText(comment *ast.Comment) (text string, ok bool) {
	text, ok = strings.CutPrefix(comment.Text, "//")
	if !ok || !strings.Contains(text, "+") {
		return "", false
	}
	return strings.CutPrefix(strings.TrimSpace(text), "+")
}

// CRDDoc returns the description that a comment is: without markers, and by the conventions of Kubernetes
// without lines that begin with TODO and what follows a line that begins with three dashes. Blocks of code
// are left as they are.
func CRDDoc(group *ast.CommentGroup) string {
	if group == nil {
		return ""
	}
	var text ast.CommentGroup
	block := false
	for _, comment := range group.List {
		if _, isMarker := crdText(comment); !isMarker {
			text.List = append(text.List, comment)
			block = block || strings.HasPrefix(comment.Text, "/*")
		}
	}
	var lines []string
	inCode := false
	for line := range strings.SplitSeq(strings.TrimSuffix(text.Text(), "\n"), "\n") {
		if block {
			line = strings.TrimSpace(line)
		}
		if strings.HasPrefix(line, "```") || strings.HasPrefix(line, "~~~") {
			inCode = !inCode
		}
		if !inCode && strings.HasPrefix(line, "TODO") {
			continue
		}
		if !inCode && strings.HasPrefix(line, "---") {
			break
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}
