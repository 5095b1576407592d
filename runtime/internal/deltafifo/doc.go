// Package deltafifo has the queue between what learns of changes (a
// reflector) and what stores them.
//
// A DeltaFIFO is a log of deltas. There are two ways to take from it:
//
//   - PopBatch hands out everything that is pending, in the order of arrival.
//     It allocates nothing once its two buffers have grown, and it is for one
//     consumer.
//   - Pop hands out the key that waits longest, with all its pending deltas. It
//     is for any number of consumers. The index by key that it needs is built
//     by the first Pop and given up by a PopBatch.
//
// Both keep the order of the deltas of one key, hand out each delta once, and
// lose none, with one exception that is Pop's: of two deletions of a key in a
// row, one is enough, and the one that knows the final state is kept.
package deltafifo
