// Package client is for generated clientsets. Programs don't import it: package runtime/client is for them.
// It has the parts of a clientset: the requests for a resource, with the types of its objects and lists, and
// the set-up of REST clients.
//
// A generated typed client embeds one of four types. Which one depends on whether the
// resource can be listed and whether it has apply configurations:
//
//	Client[T]                         Get Create Update UpdateStatus Delete DeleteCollection Watch Patch
//	ClientWithList[T, L]              + List
//	ClientWithApply[T, C]             + Apply ApplyStatus
//	ClientWithListAndApply[T, L, C]   + both
//
// The generated interface decides which of these methods are visible. A method that a type declares with
// +genclient:method is a single call of GetAs, ListAs, CreateAs, UpdateAs, PatchAs or ApplyAs.
//
// Generated types embed these types by value, every method has a pointer receiver, and type arguments are
// pointers whose constraints don't include comparable. So a package compiles each method once, and for each
// kind only a jump to it. With embedded pointers, or structs as type arguments, a package of ten kinds would
// take twice as long to compile.
//
// Clients have no state of their own. Those of a group version share a [Writes], which
// records their writes. They are safe for concurrent use, as is the rest.Interface
// below them. As in client-go, a request that fails returns an empty object with the
// error, not nil; only an apply that is refused before it is sent returns nil.
package client
