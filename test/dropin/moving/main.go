// Command moving moves programs from client-go and controller-runtime to kubewright: it copies them into a
// folder of their own, outside of this repository, changes the import paths of informers, tools/cache and
// util/workqueue, or one or two lines besides, compiles them, and runs them against a small API server.
//
//	cd test/dropin/moving && go run .
//
// The programs are client-go's own example of a work queue, from the module cache, and those in testdata. A
// program that has tests must also pass them, and do the same, before it has moved.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/kubewright/kubewright/internal/scratch"
)

func main() {
	if err := run(context.Background(), os.Stdout, true); err != nil {
		fmt.Fprintln(os.Stderr, "moving:", err)
		os.Exit(1)
	}
}

// run moves all programs and reports to out. With long, it vets them, too, and checks those that have tests
// also before they move.
func run(
	ctx context.Context, out interface{ WriteString(string) (int, error) }, long bool,
) (err error) {
	say := func(format string, args ...any) { out.WriteString(fmt.Sprintf(format, args...) + "\n") }
	dir, release, err := scratch.Fixed("moving")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, release()) }()
	m, err := scratch.New(dir, "example.com/moving", "..")
	if err != nil {
		return err
	}
	kubeconfig := filepath.Join(dir, "kubeconfig")
	stop, err := serve(kubeconfig)
	if err != nil {
		return err
	}
	defer stop()
	for _, p := range programs {
		if err := p.copy(m); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		if p.tested && long {
			if err := p.check(ctx, m, kubeconfig, long); err != nil {
				return fmt.Errorf("%s, before it moves: %w", p.name, err)
			}
		}
		changed, err := p.move(m)
		if err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		start := time.Now()
		if err := p.check(ctx, m, kubeconfig, long); err != nil {
			return fmt.Errorf("%s, moved: %w", p.name, err)
		}
		say("%s: %d lines changed; works (%v)", p.name, changed,
			time.Since(start).Round(time.Millisecond))
	}
	return nil
}

// check generates the program's code, if it has a script for that, compiles and tests it, and runs it.
func (p program) check(ctx context.Context, m *scratch.Module, kubeconfig string, long bool) error {
	if _, err := os.Stat(filepath.Join(m.Dir, p.name, generate)); err == nil {
		if _, err := m.Run("sh", filepath.Join(p.name, generate)); err != nil {
			return err
		}
	}
	if long {
		if _, err := m.Run("go", "vet", "./"+p.name+"/..."); err != nil {
			return err
		}
	}
	if p.tested {
		if _, err := m.Run("go", "test", "-count=1", "-timeout=2m", "./"+p.name+"/..."); err != nil {
			return err
		}
	}
	binary := filepath.Join(m.Dir, "bin", p.name)
	if _, err := m.Run("go", "build", "-o", binary, "./"+p.name); err != nil {
		return err
	}
	return p.run(ctx, binary, kubeconfig)
}
