// Command demo-sharded shows replicas of a controller that share their objects. It starts a real API server
// in this process, with the feature gate ShardedListAndWatch, and examples/sharded as processes. It adds
// replicas, kills one, freezes one and stops one, while customers order bread in 48 namespaces, and prints
// who bakes where.
//
// It exits with 0 only if every order was baked, nothing was baked twice, and other replicas took over each
// time. It leaves no files and no processes. Run it in the repository, whose examples it builds:
//
//	make demo-sharded
package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/kubewright/kubewright/test/e2e/internal/demos"
)

func main() { demos.Main(run) }

func run(ctx context.Context) error {
	scratch, err := os.MkdirTemp("", "kubewright-demo-sharded-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	program, err := build(ctx, scratch)
	if err != nil {
		return err
	}
	d, err := open(ctx, scratch, program)
	if err != nil {
		return err
	}
	return errors.Join(tell(ctx, d), d.close())
}

// build compiles examples/sharded.
func build(ctx context.Context, scratch string) (program string, err error) {
	const module = "github.com/kubewright/kubewright"
	root, err := demos.Command(ctx, ".", "go", "list", "-m", "-f", "{{.Dir}}", module)
	if err != nil {
		return "", err
	}
	program = filepath.Join(scratch, "sharded"+exe)
	_, err = demos.Command(ctx, root, "go", "build", "-o", program, "./examples/sharded")
	return program, err
}
