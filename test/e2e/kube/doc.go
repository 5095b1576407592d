// Package kube holds the tests that generate the clients of k8s.io/api itself,
// into a module of their own, and run them against a whole kube-apiserver.
//
// What is generated and the programs that use it are kept in the user's cache
// folder, in a module whose place doesn't change from run to run: otherwise the
// compiler would begin anew each time. The first run takes ten minutes or so,
// half of them for building the kube-apiserver.
package kube
