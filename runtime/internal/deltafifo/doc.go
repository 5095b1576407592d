// Package deltafifo implements the queue between a reflector, which receives changes,
// and the writer of an informer, which stores them.
//
// It is not client-go's DeltaFIFO, a queue of keys with the deltas of each, which is in
// runtime/cache. This one is a list of deltas: PopBatch returns all that are pending, in the
// order of arrival, each delta once. It reuses two buffers, so it allocates only while they grow.
// A large buffer is freed after 32 small batches in a row.
package deltafifo
