package render

import (
	"path"
	"strings"
)

// Marks that templates leave in their text, to be replaced once all of the file
// is known. None of them occurs in Go source.
const (
	mark        = '\x00' // path [markAlias alias] markEnd: a package's name
	markAlias   = '\x01'
	markReserve = '\x02' // after mark; identifier markEnd: no import may be called so
	markEnd     = '\x03'
	markColumn  = '\v' // gofmt aligns what follows
)

// Package is a Go package as seen from the file being made. Printed in a
// template it becomes the package's alias, and the file imports it.
type Package struct {
	// Path is the import path.
	Path string
	// Alias is the wish for its name in the file. It is granted unless it
	// collides; without one the name follows from Path.
	Alias string
}

// String gives the mark that [Templates.Render] replaces by the alias.
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

// Sub is the package in the folder elem below p.
func (p Package) Sub(elem ...string) Package {
	return Package{Path: path.Join(append([]string{p.Path}, elem...)...)}
}

// Ident gives an identifier of the package.
func (p Package) Ident(name string) Ident { return Ident{Package: p, Name: name} }

// Ident is an identifier of a package. Printed in a template it becomes a
// qualified identifier, or a plain one in a file of the same package.
type Ident struct {
	Package Package
	Name    string
}

// String gives the text with the package's mark in it.
func (i Ident) String() string { return i.Package.String() + "." + i.Name }
