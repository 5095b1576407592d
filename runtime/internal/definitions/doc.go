// Package definitions is the inside of an optional.Definitions: it sends the requests that tell which kinds a
// server serves, and shows the answers to package served, which decides.
//
//	watch.go     lists and watches the metadata of CustomResourceDefinitions
//	requests.go  GET /apis/<group>/<version>, for each group and version once for all of its kinds
//	discovery.go one discovery for all kinds
//	run.go       calls what is due
//
// It runs while a kind is observed. Its goroutines end with the last observer.
package definitions
