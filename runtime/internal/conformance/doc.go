// Package conformance compares implementations of what client-go's tools/cache
// has, ours and client-go's own, with each other.
//
// Conform plays scenarios over several implementations of a shared informer: it
// compares what they asked the server for and what their handlers saw.
// ConformTools does the same for queues, stores and what else there is beside
// informers. The tests of this package also hold the informers of this repository
// to a model, by random operations, and the model to planted bugs, which it must
// find.
package conformance
