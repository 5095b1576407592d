// Package conformance compares implementations of client-go's tools/cache, ours and client-go's own, with
// each other.
//
// Conform plays scenarios with several implementations of a shared informer and compares what they requested
// from the server and what their handlers received. ConformTools does the same for queues, stores and the
// other types beside informers. The tests of this package also check the informers of this repository against
// a model, by random operations, and check with planted bugs that the model finds faults.
package conformance
