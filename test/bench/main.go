// Command bench runs the benchmarks that compare the project with an incumbent: client-go, or code-generator.
// It prints the table of each part as it ends, then the most important rows. It writes docs/benchmarks.md
// with its charts, the table of all rows beside it, and the section of README that has some of its numbers.
//
// A benchmark takes part when two of its sub-benchmarks differ only in one name element, "ours" in one and
// "upstream" (or "client-go") in the other:
//
//	BenchmarkGet/ours/indexes=3
//	BenchmarkGet/client-go/indexes=3
//
// A run that -parts, -bench or -count restrict writes its page to .cache/bench/page. A part that isn't
// restricted by -bench or -count is also saved in .cache/bench. -saved makes the page from the saved parts,
// for example after one of the parts failed and was run again.
//
// The working directory must be that of this file.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

func main() {
	var o options
	names := flag.String("parts", strings.Join(partNames(), ","), "the parts to run")
	flag.StringVar(&o.bench, "bench", "", "run only benchmarks that match, as with go test")
	flag.IntVar(&o.count, "count", 0, "runs of each benchmark, for all parts")
	flag.BoolVar(&o.saved, "saved", false, "run nothing; make the page of the saved results of all parts")
	flag.Parse()
	o.names = strings.Split(*names, ",")
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := o.run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// root is the root of the repository.
const root = "../.."

// cache holds what a run leaves behind besides docs and README. git ignores it.
var cache = filepath.Join(root, ".cache", "bench")

type options struct {
	names []string
	bench string
	count int
	saved bool
}

// restricted reports whether a run measures less than the full parts.
func (o options) restricted() bool {
	return o.bench != "" || o.count != 0 ||
		os.Getenv("WIREBENCH_OBJECTS") != "" || os.Getenv("WIREBENCH_ROUNDS") != ""
}

func (o options) run(ctx context.Context) error {
	chosen, err := choose(o.names)
	if err != nil {
		return err
	}
	var results []result
	if o.saved {
		results, err = loadAll(cache, parts, changedSince(ctx))
	} else {
		results, err = o.measure(ctx, chosen)
	}
	if err != nil {
		return err
	}
	dir := root
	if !o.saved && (o.restricted() || len(chosen) < len(parts)) {
		dir = filepath.Join(cache, "page")
	}
	r := newReport(results)
	fmt.Println("What matters first:")
	writeHeadlines(os.Stdout, r.Headlines)
	if err := r.write(root, dir); err != nil {
		return err
	}
	fmt.Printf("\nWritten: %s, its charts, %s, and a section of %s\n",
		filepath.Join(dir, "docs", "benchmarks.md"), filepath.Join(dir, "docs", dataFile),
		filepath.Join(dir, "README.md"))
	if dir == root && len(r.Missing) > 0 {
		return fmt.Errorf("headlines.go names rows that no benchmark measures: %s", strings.Join(r.Missing, "; "))
	}
	return nil
}

// measure runs the parts. It prints and saves the results of each as it ends.
func (o options) measure(ctx context.Context, chosen []part) ([]result, error) {
	progress := newProgress(os.Stderr)
	defer progress.tell(30 * time.Second)()
	var results []result
	for i, p := range chosen {
		progress.say("%s: part %d of %d", p.name, i+1, len(chosen))
		if o.count > 0 {
			p.count = o.count
		}
		r, err := p.run(ctx, o.bench, progress)
		if errors.Is(err, errNothing) && o.bench != "" {
			continue
		}
		if err != nil {
			return nil, err
		}
		fmt.Printf("%s:\n", p.name)
		writeRows(os.Stdout, r.Rows)
		if shared := withShares(r.Rows); len(shared) > 0 {
			writeShares(os.Stdout, shared)
		}
		fmt.Println()
		if results = append(results, r); !o.restricted() {
			if err := r.save(cache); err != nil {
				return nil, err
			}
		}
	}
	if len(results) == 0 {
		return nil, fmt.Errorf("no benchmark with an incumbent beside it matches %q", o.bench)
	}
	return results, nil
}

// choose returns the parts of these names, in the order of parts.
func choose(names []string) (chosen []part, err error) {
	for _, n := range names {
		if !slices.Contains(partNames(), n) {
			return nil, fmt.Errorf("there is no part %q, only %s", n, strings.Join(partNames(), ", "))
		}
	}
	for _, p := range parts {
		if slices.Contains(names, p.name) {
			chosen = append(chosen, p)
		}
	}
	return chosen, nil
}
