// Package kubeserver builds a whole kube-apiserver and the etcd that it is released with, and runs them as
// processes on 127.0.0.1. It has the whole built-in API, of which the in-process server of package apiserver
// has five kinds.
//
// The sources come through the Go module proxy by way of the module test/kubeapiserver, whose go.mod pins the
// versions. The first build takes about five minutes on two cores; the programs are kept in the user's cache
// folder. There is no controller manager, scheduler or kubelet: a Pod is stored and served, but doesn't run.
package kubeserver
