// Package deltafifo has the queue between a reflector, which reads changes from a server,
// and the writer of an informer, which stores them.
//
// It is a log of deltas. PopBatch returns all pending deltas, in the order of arrival,
// each once. It allocates nothing once its two buffers have grown. client-go's DeltaFIFO,
// a queue of keys with the deltas of each, is in runtime/cache.
package deltafifo
