// Package informers shows, in examples that are run as tests, what generated
// informers and listers can do beyond client-go's interfaces. Nothing of it
// needs another factory or another lister: all of it is reached by functions of
// the packages runtime/informer, runtime/factory and runtime/lister, which take
// what generated code returns.
package informers
