// Controllergen compares the CustomResourceDefinitions that kubewright makes of types with those of
// controller-gen, for the kinds of public repositories. It prints, for each repository, how many files are
// equal, and the first difference of each that isn't. It exits with 1 unless the kinds that differ are those
// of testdata/differ.txt.
//
//	go run . [-only module] [-diff] [-times 5] [-server] [-makefiles]
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	only := flag.String("only", "", "compare only the rows whose name contains this")
	diff := flag.Bool("diff", false, "print the whole difference of each file")
	asks := flag.Int("asks", 4, "how often to ask controller-gen, whose answers may differ from run to run")
	times := flag.Int("times", 0, "also measure both tools in turn, this many times, and print the medians")
	lines := flag.Bool("makefiles", false, "also compare what lines of Makefiles and their translations write")
	judges := flag.Bool("server", false, "also let crdcheck and an API server judge all definitions")
	makeFor := flag.String("make", "", "only make kubewright's definitions of this row, for -times")
	flag.Parse()
	if *makeFor != "" {
		if err := makeOnly(ctx, *makeFor); err != nil {
			fmt.Fprintln(os.Stderr, "controllergen:", err)
			os.Exit(2)
		}
		return
	}
	ok, err := run(ctx, *only, *asks, *times, *diff, *judges, *lines)
	if err != nil {
		fmt.Fprintln(os.Stderr, "controllergen:", err)
		os.Exit(2)
	}
	if !ok {
		os.Exit(1)
	}
}

// run compares the rows whose names contain only. It reports whether the result is the expected one.
func run(ctx context.Context, only string, asks, times int, diff, judges, lines bool) (ok bool, err error) {
	rows, err := readCorpus("corpus.tsv")
	if err != nil {
		return false, err
	}
	expected, err := readDiffer("testdata/differ.txt")
	if err != nil {
		return false, err
	}
	cache, err := filepath.Abs(filepath.Join("..", "..", ".cache", "controllergen"))
	if err != nil {
		return false, err
	}
	tool, err := buildTool(ctx, cache)
	if err != nil {
		return false, err
	}
	ok = true
	equal, all, judged := 0, 0, 0
	for _, r := range rows {
		if !strings.Contains(r.name, only) {
			continue
		}
		theirs, err := r.ask(ctx, cache, tool, asks)
		if err != nil {
			return false, fmt.Errorf("%s: %w", r.name, err)
		}
		result := r.compare(ctx, theirs, diff)
		fmt.Print(result.text)
		equal, all = equal+result.equal, all+r.kinds
		for _, file := range result.differ {
			ok = ok && expected[r.name+"/"+file]
		}
		ok = ok && result.equal+len(result.differ) == r.kinds && !result.failed
		if judges {
			alike, err := r.judge(ctx, theirs.dir)
			if err != nil {
				return false, fmt.Errorf("%s: %w", r.name, err)
			}
			if ok = ok && alike; alike {
				judged += r.kinds
			}
		}
		if times > 0 {
			line, err := r.measure(ctx, cache, tool, times)
			if err != nil {
				return false, fmt.Errorf("%s: %w", r.name, err)
			}
			fmt.Println(line)
		}
	}
	fmt.Printf("kinds %d of %d\n", equal, all)
	if judges {
		fmt.Printf("definitions that crdcheck and the server judge alike: %d of %d\n", judged, all)
	}
	if !lines {
		return ok, nil
	}
	same, err := makefiles(ctx, cache, tool)
	return ok && same, err
}
