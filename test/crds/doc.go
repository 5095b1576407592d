// Package crds imports the CustomResourceDefinitions of real projects, compiles their types, and sends random
// objects through them: see import_test.go.
//
// TestServer has the generated clients of some of them create and list objects on an API server.
//
// modules.tsv lists the Go modules that the definitions are in, and the folders there. The tests read the first
// of them; make nightly reads all, with -modules 0.
package crds
