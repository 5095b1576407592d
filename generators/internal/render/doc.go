// Package render turns templates and views into formatted Go files in memory.
//
// A template prints an identifier of another package through [Package] or [Ident], and
// printing it records the import. Aliases are chosen after the text is complete: they
// depend on the set of imports, never on the order in which a template mentions them.
//
// The text of a template is final; nothing reformats it, because gofmt would take longer
// than all other stages together. Only two things that are hard to get right in a template
// are done here: columns (the template function tab marks where gofmt aligns) and runs of
// blank lines (gofmt keeps one). The import block is sorted, in two groups.
//
// The package knows nothing about Kubernetes and doesn't touch the disk.
package render
