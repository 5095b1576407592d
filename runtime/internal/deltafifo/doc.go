// Package deltafifo implements the queue between a reflector, which learns of changes,
// and the writer of an informer, which stores them.
//
// It is a log of deltas: PopBatch returns everything that is pending, in the order of
// arrival, each delta once. It reuses two buffers, so it allocates only while they grow.
// A large buffer is freed after 32 small batches in a row.
//
// The name is client-go's name for something else, a queue of keys with the deltas of
// each. For client-go's DeltaFIFO see runtime/cache.
package deltafifo
