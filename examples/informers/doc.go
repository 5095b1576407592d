// Package informers shows, in examples that run as tests, what generated informers and
// listers can do beyond client-go's interfaces. Most factories and listers here are generated:
// functions of the packages runtime/informer, runtime/factory and runtime/lister accept what
// generated code returns. Those of informer and factory also accept what package informers returns.
//
//	example_test.go     events, handler options, own writes, indexes, release
//	ownwrites_test.go   waiting for the clientset's own writes
//	reading_test.go     snapshots, iterators, versions kept beside objects
//	options_test.go     options of all informers: tuning, memory, metrics, namespaces
//	decoding_test.go    fields that are dropped while objects arrive
//	status_test.go      the status of an informer, and checks for health endpoints
//	faults_test.go      servers that fall silent, objects recreated during an interruption
//	mistakes_test.go    handlers that panic, and handlers that modify shared objects
//	builtin_test.go     client-go's informers of the built-in types
//	untyped_test.go     dynamic and metadata informers
package informers
