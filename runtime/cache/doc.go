// Package cache is k8s.io/client-go/tools/cache on the runtime of this module: a program that was written
// for client-go's package compiles and runs with this one when its import path is changed.
//
// Interfaces and plain data types are client-go's own, by alias, so that informers, stores, queues and
// handlers of one package can be used with the other. Reflector, Heap, FIFO, RealFIFO, ExpirationCache and
// MutationCache are client-go's, too, with their implementations, and so are the functions for keys, waits
// and lists by selector. Ours are the shared informers, of package informer, the stores and indexers,
// DeltaFIFO, and the reflector that controllers and informers run.
// docs/differences.md lists where they behave differently, docs/concepts.md documents what they promise.
//
// As in client-go, keys are strings and objects are of any type. In new code, prefer generated informers and
// the functions of package informer, with which handlers are typed.
package cache
