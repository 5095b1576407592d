// Package crd turns CustomResourceDefinitions into Go types.
//
//	Read            manifests -> definitions, with the schema of each version; all problems of the input
//	Options.Types   definitions -> the view of a file for each kind of each served version
//
// It is pure: it reads text and returns values that templates print. A schema becomes the type that controller-gen would
// have made it from, as far as it says so: see build.go for the rules, and wellknown.go for the shapes that
// become types of Kubernetes.
package crd
