// Command programs moves public programs with kubewright move. It runs the tests of each program's own
// packages in three states: as it was released, with Kubernetes' modules raised to the versions that
// kubewright is for, and moved. A test must end after the move as it does raised, or as it did when released,
// and the way back must leave no difference. It also starts some of the programs, raised and moved, kro with
// and without an option, on a kube-apiserver with 20,000 objects, and measures what they cost until their
// caches are synced.
//
//	cd test/dropin/programs && go run . [-only lasso,kro] [-parts tests,started] [-runs 3] [-rounds 5]
//
// The programs come through the module proxy. Their folders, and logs of all commands, stay in -dir, which is
// .cache/programs. The rows of the programs replace those in results.json, from which docs/programs.md is
// made. -only none makes the page.
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
)

func main() {
	only := flag.String("only", "", "only these programs, separated by commas")
	parts := flag.String("parts", "tests,started", "what to do")
	runs := flag.Int("runs", 3, "how often to run the tests in each state")
	rounds := flag.Int("rounds", 5, "how often to start a program in each state")
	dir := flag.String("dir", "../../../.cache/programs", "where to work")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, *dir, *only, *parts, *runs, *rounds)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "programs:", err)
		os.Exit(1)
	}
}

// page is the page that is written.
const page = "../../../docs/programs.md"

// run moves the programs, and writes their rows. The error says which of them failed.
func run(ctx context.Context, dir, only, parts string, runs, rounds int) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	clone, err := filepath.Abs("../../..")
	if err != nil {
		return err
	}
	var failed error
	for _, p := range programs {
		if only != "" && !slices.Contains(strings.Split(only, ","), p.name) {
			continue
		}
		for part := range strings.SplitSeq(parts, ",") {
			if part == "started" && p.start == nil || part == "tests" && len(p.tests) == 0 {
				continue
			}
			w := newWorkplace(p, filepath.Join(dir, part, p.name), clone)
			err := w.do(ctx, part, runs, rounds)
			if err == nil {
				continue
			}
			err = fmt.Errorf("%s, %s: %w", p.name, part, err)
			fmt.Fprintln(os.Stderr, err)
			if !errors.Is(err, errRefused) {
				failed = errors.Join(failed, err)
			}
		}
	}
	all, err := readResults(".")
	if err == nil {
		err = all.write(".", page)
	}
	return errors.Join(failed, err)
}

// do does a part with the program, and writes the row at once: all programs together take hours.
func (w *workplace) do(ctx context.Context, part string, runs, rounds int) error {
	var add func(*results)
	var err error
	switch part {
	case "tests":
		var row testsRow
		if row, err = w.test(ctx, runs); row.Released == "" {
			return err // The page keeps the row that it has.
		}
		add = func(r *results) { r.Tests = put(r.Tests, row, func(r testsRow) string { return r.Program }) }
	case "started":
		var row startedRow
		if row, err = w.start(ctx, rounds); err != nil {
			return err
		}
		add = func(r *results) { r.Started = put(r.Started, row, func(r startedRow) string { return r.Program }) }
	default:
		return errors.New("there is no such part")
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	all, failed := readResults(".")
	if failed == nil {
		add(&all)
		failed = all.write(".", page)
	}
	return errors.Join(err, failed)
}
