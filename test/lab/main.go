// Command lab runs informers against API servers behind a proxy that fails, in memory and for real, prints
// what became of them, and writes docs/reliability.md.
//
//	go run . [-parts simulated,live] [-saved]
//
// A run of some of the parts, or one that fails, writes no page. Each part leaves its results in .cache/lab;
// -saved makes the page of those. The working directory is that of this file.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kubewright/kubewright/test/lab/results"
)

// root is the root of the repository.
const root = "../.."

var (
	// cache holds the results. git ignores it.
	cache = filepath.Join(root, ".cache", "lab")
	page  = filepath.Join(root, "docs", "reliability.md")
)

// part is tests that run together.
type part struct {
	name string
	// test is the arguments of go test.
	test []string
}

var parts = []part{
	{"simulated", []string{"-timeout", "30m", "./check", "-lab.full"}},
	{"live", []string{"-timeout", "30m", "./live", "-lab.full"}},
}

func main() {
	var all []string
	for _, p := range parts {
		all = append(all, p.name)
	}
	chosen := flag.String("parts", strings.Join(all, ","), "the parts to run")
	saved := flag.Bool("saved", false, "run nothing; make the page of the results that are saved")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, strings.Split(*chosen, ","), *saved); err != nil {
		fmt.Fprintln(os.Stderr, "lab:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, chosen []string, saved bool) error {
	var read []results.Result
	for _, p := range parts {
		name, err := filepath.Abs(filepath.Join(cache, p.name+".json"))
		if err != nil {
			return err
		}
		if !saved && slices.Contains(chosen, p.name) {
			if err := p.run(ctx, name); err != nil {
				return err
			}
		}
		some, err := results.Read(name)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		read = append(read, some...)
	}
	text := report(read)
	fmt.Println(text)
	if !saved && len(chosen) < len(parts) {
		return nil
	}
	return os.WriteFile(page, []byte(text), 0o644)
}

// run runs the tests of a part, which write their results to a file.
func (p part) run(ctx context.Context, file string) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	if err := os.Remove(file); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	args := slices.Concat([]string{"test", "-count=1"}, p.test, []string{"-lab.results", file})
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("go %s: %w", strings.Join(args, " "), err)
	}
	return nil
}
