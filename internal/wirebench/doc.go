// Package wirebench measures what an informer costs from the wire to its store,
// ours and client-go's, against a server that has 20,000 objects. Each mode runs
// in a process of its own, so that one's garbage isn't another's, and all take
// turns. Its benchmarks replay a recorded server on loopback; the module of
// end-to-end tests has the same table for a real one.
//
// A test binary that uses it calls [Child] first thing in TestMain.
package wirebench
