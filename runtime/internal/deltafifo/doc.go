// Package deltafifo has the queue between a reflector, which learns of changes, and
// the writer of an informer, which stores them.
//
// It is a log of deltas: PopBatch hands out everything that is pending, in the order
// of arrival, each delta once, and allocates nothing once its two buffers have grown.
// What client-go calls a DeltaFIFO, a queue of keys with the deltas of each, is
// runtime/cache's DeltaFIFO.
package deltafifo
