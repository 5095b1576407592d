// Package crd turns CustomResourceDefinitions into Go types.
//
//	Read            manifests -> definitions, with the schema of each version; all problems of the input
//	Options.Types   definitions -> the view of a file for each kind of each served version
//
// It is pure: it reads text and returns values that templates print. A schema becomes the Go type from which
// controller-gen would have made it, as far as the schema shows it: build.go has the rules, and wellknown.go
// the shapes that become types of Kubernetes.
package crd
