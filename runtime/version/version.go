// Package version names the generation of the runtime that generated code is
// written for. It imports nothing.
package version

// Generation2 exists as long as this runtime serves code generated for its
// second generation. Generated code declares a constant from it, so that
// incompatible code fails to compile instead of failing at run time.
const Generation2 = true

// RegenerateWithKubewright is the type of the generations that this runtime no
// longer serves. They are variables, so that generated code, which needs a
// constant, fails to compile, and the compiler's message has this name.
type RegenerateWithKubewright struct{}

// Generation1 was served until accessors of kinds moved from package informer to
// package factory: run `kubewright generate` again.
var Generation1 RegenerateWithKubewright
