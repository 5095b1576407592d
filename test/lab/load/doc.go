// Package load keeps an informer with many handlers, one of them blocked, under load, and measures what
// grows: memory, goroutines, descriptors, the lag of handlers.
//
// The server is a process of its own, so the heap and the descriptors are those of the informer's process.
// Each object has the time at which it was written.
//
// go test runs it for some seconds. make soak runs it for twenty minutes for each server, and collects the
// results by the flag -lab.results for docs/reliability.md.
package load
