// Package kube holds the tests that run against a whole kube-apiserver: of the clients of k8s.io/api, which
// are generated into a module of their own, and of our informers of the built-in types beside client-go's.
//
// The first run takes about ten minutes, half of which is the build of the kube-apiserver. Later ones find
// the rest in the build cache, since the module has the same path each time (see scratch.Fixed).
package kube
