// Package marker parses the comment tags ("markers") that control the
// generators: the +genclient family above a type, and +groupName, +groupGoName
// and the +k8s:<generator>=false opt-outs in a package's doc.go.
//
// The package is pure: it takes comments and returns typed values with
// positions. Package model decides which comment belongs to which type.
//
// It accepts the input that k8s.io/code-generator v0.37.2 accepts
// (cmd/client-gen/generators/util/tags.go for types, pkg/apidefinitions for
// packages). Tags that code-generator refuses, and tags that it accepts but that
// have no meaning, are reported as [Problems], all in one pass.
package marker
