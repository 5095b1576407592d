// Package wirebench runs internal/wirebench's comparison against a real API server. It also checks and
// measures informers that ask the server to leave metadata.managedFields out. With a server of v0.37, which
// doesn't, it checks that asking changes nothing.
//
//	make upstream UPSTREAM='-versions v0.38 -only managedFields'
//
// runs that with a server that does, and prints what was measured.
package wirebench
