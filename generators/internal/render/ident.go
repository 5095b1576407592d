package render

import (
	"path"
	"strings"
)

// Marks in the text of a file, replaced once the text is complete. None of these characters
// occurs in Go source.
const (
	mark        = '\x00' // mark path [markAlias alias] markEnd is the name of a package
	markAlias   = '\x01'
	markReserve = '\x02' // mark markReserve name markEnd reserves a name
	markEnd     = '\x03'
	markColumn  = '\v' // gofmt aligns the text after it
)

// Package is a Go package. If a template prints it, the text is the name of the package in
// the file, and the file imports the package.
type Package struct {
	// Path is the import path.
	Path string
	// Alias is the preferred name of the package in files, which it gets unless that
	// collides with another name. If it is "" the name follows from Path.
	Alias string
}

// String returns the mark that [Templates.Render] replaces by the name.
func (p Package) String() string {
	var b strings.Builder
	b.Grow(len(p.Path) + len(p.Alias) + 3)
	b.WriteByte(mark)
	b.WriteString(p.Path)
	if p.Alias != "" {
		b.WriteByte(markAlias)
		b.WriteString(p.Alias)
	}
	b.WriteByte(markEnd)
	return b.String()
}

// Sub returns the package in the folder elem below p, without an alias.
func (p Package) Sub(elem ...string) Package {
	return Package{Path: path.Join(append([]string{p.Path}, elem...)...)}
}

// Ident returns an identifier of the package.
func (p Package) Ident(name string) Ident { return Ident{Package: p, Name: name} }

// Ident is an identifier of a package. If a template prints it, the text is the qualified
// identifier, or the plain one in a file of the same package.
type Ident struct {
	Package Package
	Name    string
}

// String returns the qualified identifier, with the mark of the package.
func (i Ident) String() string { return i.Package.String() + "." + i.Name }
