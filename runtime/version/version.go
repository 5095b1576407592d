// Package version names the generation of the runtime that generated code is
// written for. It imports nothing.
package version

// Generation2 exists as long as this runtime serves code generated for its
// second generation. Generated code declares a constant from it, so that
// incompatible code fails to compile instead of failing at run time. A runtime
// that no longer serves it declares, in its place, a variable of a type named
// RegenerateWithKubewright: the compiler's message then says what to do.
//
// The first generation was never released.
const Generation2 = true
