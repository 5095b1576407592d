// Package version names the generation of the runtime that generated code is
// written for. It imports nothing.
package version

// Generation1 exists as long as this runtime serves code generated for its
// first generation. Generated code mentions it, so that an incompatible pair
// fails to compile instead of failing at run time.
const Generation1 = true
