// Command informer-gen takes the flags of k8s.io/code-generator's informer-gen and makes
// what that makes, on kubewright's runtime.
package main

import (
	"context"
	"os"
	"os/signal"
	"runtime/debug"

	"github.com/kubewright/kubewright/generators"
)

func main() {
	// A run is short and its garbage fits into memory: collect it more rarely.
	debug.SetGCPercent(400)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	status := generators.NewInformerGen().Run(ctx, os.Args[1:], os.Stderr)
	stop()
	os.Exit(status)
}
