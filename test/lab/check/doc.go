// Package check does random things to informers and finds out whether they keep their promises.
//
// A [Script] is a list of operations, and of faults of the proxy that stands between the informers and a
// [cluster.Cluster]. [Generate] makes it from a seed, [Play] plays it in a bubble of synctest with the
// informers of one [Implementation], and [Shrink] cuts what a failure doesn't need. An operation has a random
// number of its own, which decides its details, so it means the same when others are cut.
//
// These are the laws, see subject.check and world.quiet. "While everything waits" means that all goroutines
// of the bubble are blocked.
//
//   - The store at a version is what the server had at that version. The snapshots of our generated informers
//     show it at any time, the stores of others while everything waits.
//   - The events of each handler replay to the contents of the store: see [record.Recorder].
//   - The version of an object, and of an informer, never goes back.
//   - A typed and an untyped handler that were added together receive the same events.
//   - Indexes, and listers that use them, find what a scan finds, and no more values.
//   - While nothing happens, no informer lists.
//   - Once the faults have ended, everything is as on the server within the bounds of the faults that
//     happened.
//   - An informer has at most one response open. After the stop no goroutine, stream or watch is left.
//   - An informer sends a bounded number of requests in a second, and in a minute.
//   - While nothing happens and no handler is blocked, an informer keeps no objects in memory but those of
//     its store and of the last list.
//   - Nothing panics or hangs, a stop least of all.
//
// After a fault of class [fault.Wrong] only the last five hold, and the first of these only after the next
// list.
package check
