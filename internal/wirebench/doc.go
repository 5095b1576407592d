// Package wirebench measures the cost of an informer from the wire to its store, ours and client-go's, with a
// server of 20,000 objects. Each mode runs in a process of its own, so that modes don't share garbage, and
// the modes take turns. The benchmarks here replay a recorded server on loopback; test/e2e/wirebench runs the
// same comparison against a real server, contrib/controller-runtime/wirebench that of a manager's cache, and
// internal/wirebench/parts measures informers of a part.
//
// A test binary that uses it calls [Child] first thing in TestMain.
package wirebench
