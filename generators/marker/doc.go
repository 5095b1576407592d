// Package marker reads the tags ("markers") that steer the generators out of
// Go comments: "+genclient" and its kin above a type, "+groupName" and the
// opt-outs in a package's doc.go.
//
// It is pure: comments in, typed values with positions out. Which comment
// belongs to which type is model's business. What is accepted is what
// k8s.io/code-generator v0.37.2 accepts; everything that it refuses, and
// everything that it takes but that can't mean anything, comes back as a
// [Problem], all of them at once.
package marker
