// Package kube holds the tests that generate the clients of k8s.io/api into a module of their own, and run
// them against a whole kube-apiserver.
//
// That module, with the generated code and the programs that use it, stays in the user's cache folder under a
// fixed path: at another path the compiler would have to start from scratch. The first run takes about ten
// minutes, half of them for building the kube-apiserver.
package kube
