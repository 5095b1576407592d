// Command demo shows the whole path from annotated types to a running controller: it builds kubewright,
// generates the clients of the examples' APIs, starts a real API server in this process, installs the custom
// resource definitions, runs the example controller, changes objects as users would, and prints what the
// controller saw and did.
//
// It exits with 0 only if everything happened as expected, and leaves no files. Run it in the repository,
// whose examples it reads:
//
//	make demo
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/kubewright/kubewright/test/e2e/internal/demos"
)

func main() { demos.Main(run) }

func run(ctx context.Context) error {
	begin := time.Now()
	scratch, err := os.MkdirTemp("", "kubewright-demo-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)

	fmt.Println("From annotated types to a running controller")
	fmt.Println()
	if err := generate(ctx, scratch); err != nil {
		return err
	}
	shop, err := open(ctx)
	if err != nil {
		return err
	}
	told := tell(ctx, shop)
	closed := shop.close()
	fmt.Println()
	fmt.Println("Summary")
	shop.summary(os.Stdout)
	fmt.Printf("  %-28s %.1f\n", "seconds, without building", time.Since(begin).Seconds())
	if err := errors.Join(told, closed, shop.verdict()); err != nil {
		return err
	}
	fmt.Println("\nEverything happened as expected.")
	return nil
}
