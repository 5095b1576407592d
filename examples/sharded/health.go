package main

import (
	"net"
	"net/http"

	"k8s.io/klog/v2"

	"github.com/kubewright/kubewright/sharding"
)

// serveHealth serves /readyz at an address, "" for none, until stop is called.
//
// There is no path for a liveness probe: a restart cures none of the errors that the member's Health returns,
// such as an API server that doesn't answer, and costs the replica its namespaces.
func serveHealth(address string, member *sharding.Member) (stop func(), err error) {
	if address == "" {
		return func() {}, nil
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.Handle("/readyz", readiness(member))
	server := &http.Server{Handler: mux}
	go func() {
		if err := server.Serve(listener); err != http.ErrServerClosed {
			klog.ErrorS(err, "The health isn't served any more")
		}
	}()
	klog.InfoS("Serving /readyz", "address", listener.Addr())
	return func() { server.Close() }, nil
}

// readiness reports that a replica is ready when it may act and all namespaces have an owner. So a rolling
// update goes on only when the namespaces of the replica that ended last have owners again.
func readiness(member *sharding.Member) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		if err := member.Health(); err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
		}
	}
}
