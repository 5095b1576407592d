// Package crd turns CustomResourceDefinitions into Go types, and Go types into CustomResourceDefinitions.
//
//	Read            manifests -> definitions, with the schema of each version; all problems of the input
//	Options.Types   definitions -> the view of a file for each kind of each served version
//	DefinitionOptions.Make
//	                types and their markers -> definitions, checked like those that Read reads
//
// It is pure: it reads text and returns values that templates print. A schema becomes the Go type from which
// controller-gen would have made it, as far as the schema shows it: build.go has the rules, and wellknown.go
// the shapes that become types of Kubernetes.
//
// The way back is that of controller-gen: fromtypes.go makes a schema of each type, which refers to others,
// nodemarkers.go applies markers to it, node.go merges the schemas of fields and their types, and tree.go
// makes YAML of the result. define.go adds what the definition has beside the schema.
package crd
