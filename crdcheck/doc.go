// Command crdcheck checks CustomResourceDefinitions that kubewright generate makes of Go types, as an API
// server does: with its own validation, which compiles the rules in CEL, estimates their cost, and tries
// defaults.
//
//	go get -tool github.com/kubewright/kubewright/crdcheck
//	go tool crdcheck ./apis/...
//
// It writes nothing, and needs no server. Each problem stands in a line, with the place of the type, field or
// marker, and the server's path and message. What servers accept and only kubewright generate refuses, such
// as a misspelt marker, is a warning. The exit status is 0 if servers accept all definitions, 1 if they
// refuse one or a package can't be read, and 2 if there are none, or a flag is wrong.
package main
