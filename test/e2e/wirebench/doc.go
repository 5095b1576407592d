// Package wirebench runs internal/wirebench's comparison against a real API server. It also checks and
// measures informers that ask the server to leave metadata.managedFields out. With a server of v0.37, which
// doesn't, it checks that asking changes nothing.
//
//	make upstream UPSTREAM='-versions v0.38 -only managedFields'
//
// runs that with a server that does, and prints what was measured, in test/e2e of the copy whose folder it
// names. There, with the GOTOOLCHAIN of upstream/versions, this measures more:
//
//	go test ./wirebench -run TestServerDropCost -v -serverdrop.objects 20000
package wirebench
