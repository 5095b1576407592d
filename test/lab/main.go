// Command lab runs informers against API servers behind a proxy that injects faults, in memory and for real,
// and under load. It prints the results and writes docs/reliability.md.
//
//	go run . [-parts simulated,live,soak] [-saved]
//
// The parts simulated and live together make the page, except for its last two sections: soak makes one,
// make track-record the other. The section of a part that wasn't run stays unchanged, and so does the whole
// page if anything fails. Each part leaves its results in .cache/lab; -saved makes the page from those. The
// working directory must be that of this file.
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
	docs  = filepath.Join(root, "docs")
	page  = filepath.Join(docs, "reliability.md")
)

// part is a set of tests that run together.
type part struct {
	name string
	// test has the arguments of go test.
	test []string
}

var (
	simulated = part{"simulated", []string{"-timeout", "30m", "./check", "-lab.full"}}
	live      = part{"live", []string{"-timeout", "45m", "./live", "-lab.full"}}
	soak      = part{"soak", []string{"-timeout", "2h", "./load", "-lab.full"}}
	parts     = []part{simulated, live, soak}
)

func main() {
	chosen := flag.String("parts", "simulated,live", "the parts to run, also: soak")
	saved := flag.Bool("saved", false, "run nothing; make the page from the saved results")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, strings.Split(*chosen, ","), *saved); err != nil {
		fmt.Fprintln(os.Stderr, "lab:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, chosen []string, saved bool) error {
	for _, name := range chosen {
		i := slices.IndexFunc(parts, func(p part) bool { return p.name == name })
		if i < 0 {
			return fmt.Errorf("there is no part %q", name)
		}
		if saved {
			continue
		}
		if err := parts[i].run(ctx); err != nil {
			return err
		}
	}
	old, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	faults, load, record := sections(string(old))
	if slices.Contains(chosen, simulated.name) && slices.Contains(chosen, live.name) {
		of, err := read[results.Result](simulated)
		if err != nil {
			return err
		}
		ofLive, err := read[results.Result](live)
		if err != nil {
			return err
		}
		faults = report(append(of, ofLive...)) + "\n"
	}
	if slices.Contains(chosen, soak.name) {
		soaks, err := read[results.Soak](soak)
		if err != nil {
			return err
		}
		load = soakSection(soaks) + "\n"
		if err := drawSoaks(docs, soaks); err != nil {
			return err
		}
	}
	text := strings.TrimRight(faults+load+record, "\n") + "\n"
	fmt.Println(text)
	return os.WriteFile(page, []byte(text), 0o644)
}

// recordHeading begins the last section of the page, which make track-record writes.
const recordHeading = "## Track record\n"

// sections returns the parts of the page: what simulated and live make, what soak makes, the track record.
func sections(page string) (faults, load, record string) {
	cut := func(text, heading string) (before, section string) {
		before, section, found := strings.Cut(text, heading)
		if found {
			section = heading + section
		}
		return before, section
	}
	rest, record := cut(page, recordHeading)
	faults, load = cut(rest, soakHeading)
	return faults, load, record
}

// file returns the path of a part's results.
func (p part) file() (string, error) { return filepath.Abs(filepath.Join(cache, p.name+".json")) }

// read returns the results of a part.
func read[R results.Result | results.Soak](p part) ([]R, error) {
	file, err := p.file()
	if err != nil {
		return nil, err
	}
	return results.Read[R](file)
}

// run runs the tests of a part, which write their results to a file.
func (p part) run(ctx context.Context) error {
	file, err := p.file()
	if err != nil {
		return err
	}
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
