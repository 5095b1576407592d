// Package check does random things to informers and finds out whether they keep their promises.
//
// A [Script] is a list of operations, and of faults of the proxy that stands between the informers and a
// [cluster.Cluster]. [Generate] makes it from a seed, [Play] plays it in a bubble of synctest with the
// informers of one [Implementation], and [Shrink] cuts what a failure doesn't need. An operation has a random
// number of its own, from which its details follow, so it means the same when others are cut.
//
// These are the laws, see subject.check and world.quiet:
//
//   - the store at a version is what the server had at that version, which the snapshots of our generated
//     informers show at any time, and the stores of others whenever everything waits;
//   - what each handler is told replays to the store: see [record.Recorder];
//   - the version of an object, and of an informer, never goes back;
//   - a typed and an untyped handler that came together are told the same;
//   - indexes, and listers that use them, find what a scan finds;
//   - once the faults have ended, everything is as on the server within the bounds of the faults that
//     happened;
//   - an informer has one response open, and after the stop no goroutine, stream or watch is left;
//   - nobody panics or hangs.
//
// After a fault of class [fault.Wrong] only the last three hold, and the first of them after the next list.
package check
