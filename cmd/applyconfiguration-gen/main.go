// Command applyconfiguration-gen is a drop-in replacement for k8s.io/code-generator's
// applyconfiguration-gen: it has the same flags, and generates the same API on kubewright's runtime.
package main

import (
	"context"
	"os"
	"os/signal"
	"runtime/debug"

	"github.com/kubewright/kubewright/generators"
)

func main() {
	// A run is short and its garbage fits into memory, so collect it less often.
	debug.SetGCPercent(400)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	status := generators.NewApplyConfigurationGen().Run(ctx, os.Args[1:], os.Stderr)
	stop()
	os.Exit(status)
}
