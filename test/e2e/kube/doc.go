// Package kube holds the tests that run against a whole kube-apiserver: of the clients of k8s.io/api, which
// are generated into a module of their own, and of our informers of the built-in types beside client-go's.
//
// That module, with the generated code and the programs that use it, stays in the user's cache folder under a
// fixed path: at another path the compiler would have to start from scratch. The first run takes about ten
// minutes, half of which is the build of the kube-apiserver.
package kube
