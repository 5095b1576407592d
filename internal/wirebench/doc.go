// Package wirebench measures what an informer costs from the wire to its store,
// ours and client-go's: a recorded server is replayed on loopback, and each mode
// runs in a process of its own, so that one's garbage isn't another's.
package wirebench
