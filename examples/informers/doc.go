// Package informers shows, in examples that are run as tests, what generated
// informers and listers can do beyond client-go's interfaces. Nothing of it
// needs another factory or another lister: all of it is reached by functions of
// the packages runtime/informer, runtime/factory and runtime/lister, which take
// what generated code returns.
//
//	example_test.go     events, handler options, own writes, indexes, release
//	fresh_test.go       what was written through the clientset, without versions
//	reading_test.go     snapshots, iterators, versions kept beside objects
//	options_test.go     for all of a factory: tuning, memory, metrics, namespaces
//	decoding_test.go    fields that are dropped while objects arrive
//	status_test.go      how an informer is doing, and checks for health endpoints
//	faults_test.go      servers that fall silent, objects replaced unseen
//	mistakes_test.go    handlers that panic, and such as modify what is shared
//	untyped_test.go     dynamic and metadata informers
package informers
