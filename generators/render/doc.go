// Package render turns templates and views into formatted Go files in memory.
//
// A template prints an identifier of another package through [Package] or
// [Ident]; printing it is what records the import. Aliases are chosen after the
// text is known, so that they depend on the set of imports alone and never on
// the order in which a template happens to mention them.
//
// The text that templates make is final: nothing reformats it. Two things are
// hard to do by hand and are done here: columns (the template function tab marks
// where gofmt would align) and runs of blank lines (gofmt keeps one). The import
// block is written sorted, in two groups.
//
// The package knows nothing of Kubernetes and touches no disk.
package render
