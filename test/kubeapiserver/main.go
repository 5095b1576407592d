// Command kubeapiserver is the kube-apiserver of k8s.io/kubernetes, built from the Go module proxy. The
// end-to-end tests run against it when they need Pods, RBAC and the rest of what a bare extension server
// doesn't have.
//
// It is a module of its own because k8s.io/kubernetes can only be required together with a replacement for
// each of its staging modules (see go.mod), which modules that import kubewright must not inherit.
package main

import (
	"os"

	"k8s.io/component-base/cli"
	"k8s.io/kubernetes/cmd/kube-apiserver/app"
)

func main() {
	os.Exit(cli.Run(app.NewAPIServerCommand()))
}
