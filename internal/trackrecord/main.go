// Command trackrecord plants bugs that client-go, controller-runtime and their kin really had, one at a time,
// and shows which of our tests finds each. It writes a section of docs/reliability.md.
//
//	go run ./internal/trackrecord [-nightly] [-only TEXT]
//
// With one of the flags it tries some of the bugs, and writes nothing. The working directory must be the root
// of the repository.
package main

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"
)

func main() {
	nightly := flag.Bool("nightly", false, "only the bugs of each night")
	only := flag.String("only", "", "only the bugs whose name, report or rig contains this")
	flag.Parse()
	if err := run(*nightly, *only); err != nil {
		fmt.Fprintln(os.Stderr, "trackrecord:", err)
		os.Exit(1)
	}
}

func run(nightly bool, only string) error {
	start := time.Now()
	chosen := slices.DeleteFunc(entries(), func(e entry) bool {
		return nightly && !e.nightly || !strings.Contains(e.name+" "+e.bug.Report+" "+e.bug.Rig, only)
	})
	if len(chosen) == 0 {
		return fmt.Errorf("no bug's name, report or rig contains %q", only)
	}
	dir, err := os.MkdirTemp("", "trackrecord")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	findings, err := look(os.Stdout, dir, chosen)
	if err != nil {
		return err
	}
	missed := 0
	for _, f := range findings {
		if f.wrong != "" {
			missed++
			fmt.Printf("%s: not found: %s\n", f.name, f.wrong)
		}
	}
	fmt.Printf("%d bugs in %s\n", len(findings), time.Since(start).Round(time.Second))
	switch {
	case missed > 0:
		return fmt.Errorf("%d of %d bugs aren't found", missed, len(findings))
	case nightly || only != "":
		return nil
	}
	return writePage(findings)
}
