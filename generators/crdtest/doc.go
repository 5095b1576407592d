// Package crds imports the CustomResourceDefinitions of real projects, compiles their types, and sends random
// objects through them: see import_test.go.
//
// In TestServer, the generated clients of some of them create and list objects on an API server.
//
// TestWalks runs the commands of the repository's Markdown pages, and writes the files that they show.
//
// modules.tsv lists the Go modules that have the definitions, and their folders there. The tests read the
// first of them; make nightly reads all, with -modules 0.
package crds
