// Command defaulter-gen is a drop-in replacement for k8s.io/code-generator's defaulter-gen: it has the
// same flags, and writes the same files.
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
	status := generators.NewDefaulterGen().Run(ctx, os.Args[1:], os.Stderr)
	stop()
	os.Exit(status)
}
