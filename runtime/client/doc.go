// Package client is what a generated clientset delegates to: the requests of
// one resource, typed by its object and its list, and the set-up of the REST
// clients that they go through.
//
// A generated typed client embeds one of four types, as the resource can be
// listed and has apply configurations or not:
//
//	Client[T]                         Get Create Update UpdateStatus Delete Watch Patch
//	ClientWithList[T, L]              + List DeleteCollection
//	ClientWithApply[T, C]             + Apply ApplyStatus
//	ClientWithListAndApply[T, L, C]   + both
//
// Which of these methods the world sees is decided by the generated interface.
// Methods that a type asks for with +genclient:method are one call each of
// GetAs, ListAs, CreateAs, UpdateAs, PatchAs or ApplyAs.
//
// Generated types embed these by value and every method has a pointer receiver;
// type arguments are pointers, whose constraints don't ask for comparable. So each
// method is compiled once a package, and for a kind only a jump to it: with
// pointers embedded, or with struct types as arguments, a package of ten kinds
// takes twice as long to compile.
//
// Clients hold no state beside what they were made with; those of a group version
// share a [Writes], which remembers what they wrote. They are safe for concurrent
// use, as is the rest.Interface below them. Like client-go's
// clients they return an empty object, not nil, beside the error of a request
// that failed; only an apply that is refused before it is sent returns nil.
package client
