// Command programs moves public programs with kubewright move. It runs the tests of each program's own
// packages in three states: as it was released, with Kubernetes' modules raised to the versions that
// kubewright is for, and moved. A test must end after the move as it does raised, or as it did when released,
// and the way back must leave no difference.
//
//	cd test/dropin/programs && go run . [-only lasso,kro] [-runs 3] [-dir folder]
//
// The programs come through the module proxy. Their folders, and logs of all commands, stay in -dir.
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
	runs := flag.Int("runs", 3, "how often to run the tests in each state")
	dir := flag.String("dir", "../../../.cache/programs", "where to work")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, *dir, *only, *runs)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "programs:", err)
		os.Exit(1)
	}
}

// run moves the programs, and prints a table. The error says which of them failed.
func run(ctx context.Context, dir, only string, runs int) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	clone, err := filepath.Abs("../../..")
	if err != nil {
		return err
	}
	var rows []string
	var failed error
	for _, p := range programs {
		if only != "" && !slices.Contains(strings.Split(only, ","), p.name) {
			continue
		}
		row, err := newWorkplace(p, filepath.Join(dir, p.name), clone).all(ctx, runs)
		if err != nil {
			err = fmt.Errorf("%s: %w", p.name, err)
			fmt.Fprintln(os.Stderr, err)
			failed = errors.Join(failed, err)
		}
		rows = append(rows, row)
		fmt.Fprintln(os.Stderr, row)
	}
	fmt.Println("| program | lines changed | packages that stay | released: passed, failed, skipped | raised " +
		"| moved | way back |\n|---|--:|--:|---|---|---|---|")
	for _, row := range rows {
		fmt.Println(row)
	}
	return failed
}
