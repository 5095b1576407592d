// Package cache is k8s.io/client-go/tools/cache on the runtime of this module: a
// program written for the one compiles and runs with the other when the import
// path is changed.
//
// Interfaces and plain data types are client-go's own, by alias, so that
// informers, stores and handlers of both kinds go wherever either is wanted.
// What does something is ours: stores are of package store, informers of
// package informer, queues of package deltafifo, and reflectors of package
// reflector.
//
// Who starts fresh uses those packages: here keys are strings, and objects any.
package cache
