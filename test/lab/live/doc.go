// Package live runs informers against real API servers behind the fault proxy: the embedded server of
// test/e2e, and the whole kube-apiserver.
//
// go test -short runs a part in a minute; without -short, servers and programs are also frozen for two
// minutes, etcd is restored, and one of two kube-apiservers lags. make lab runs everything, and collects the
// results by the flag -lab.results for docs/reliability.md.
package live
