// Command upstream builds and tests a copy of this repository against other versions of the k8s.io modules:
// those that upstream/versions names. It lays the files of upstream/<minor> over the copy, so that what only
// compiles with that minor is tested before it is released.
//
//	go run ./internal/upstream [-versions v0.38] [-only NAME]
//
// The working directory must be the root of the repository. A copy, not go build's -overlay, because tests
// start go commands of their own, which don't inherit that.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

func main() {
	prefix := flag.String("versions", "", "only the versions that begin with this")
	only := flag.String("only", "", "only the checks whose name contains this")
	flag.Parse()
	if err := run(os.Stdout, *prefix, *only); err != nil {
		fmt.Fprintln(os.Stderr, "upstream:", err)
		os.Exit(1)
	}
}

// version is a row of upstream/versions.
type version struct {
	// name is the version of the k8s.io modules, minor the first two parts of it.
	name, minor string
	// toolchain is the value of GOTOOLCHAIN, or "" to leave that as it is.
	toolchain string
}

func run(out io.Writer, prefix, only string) error {
	text, err := os.ReadFile("upstream/versions")
	if err != nil {
		return err
	}
	versions, err := readVersions(string(text))
	if err != nil {
		return err
	}
	var failed []error
	ran := 0
	before, had := os.LookupEnv("GOTOOLCHAIN")
	for _, v := range versions {
		if !strings.HasPrefix(v.name, prefix) {
			continue
		}
		ran++
		// All child processes inherit it, those of tests too.
		switch {
		case v.toolchain != "":
			err = os.Setenv("GOTOOLCHAIN", v.toolchain)
		case had:
			err = os.Setenv("GOTOOLCHAIN", before)
		default:
			err = os.Unsetenv("GOTOOLCHAIN")
		}
		if err == nil {
			err = against(out, v, only)
		}
		if err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", v.name, err))
		}
	}
	if ran == 0 {
		return fmt.Errorf("upstream/versions has no version that begins with %q", prefix)
	}
	return errors.Join(failed...)
}

func readVersions(text string) (versions []version, err error) {
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if len(fields) == 0 || fields[0] == "#" {
			continue
		}
		parts := strings.SplitN(fields[0], ".", 3)
		if len(fields) > 2 || len(parts) < 3 || parts[0] != "v0" {
			return nil, fmt.Errorf("upstream/versions: %q isn't a version like v0.37.2, with or without a "+
				"Go toolchain after it", strings.TrimSpace(line))
		}
		v := version{name: fields[0], minor: parts[0] + "." + parts[1]}
		if len(fields) == 2 {
			v.toolchain = fields[1]
		}
		versions = append(versions, v)
	}
	return versions, nil
}

// against makes a copy of the repository for a version and runs the checks in it.
func against(out io.Writer, v version, only string) error {
	start := time.Now()
	c, err := newCopy(v)
	if err != nil {
		return err
	}
	toolchain, err := c.output(".", "go", "env", "GOVERSION")
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "# k8s.io %s, %s, in %s\n", v.name, strings.TrimSpace(toolchain), c.dir)
	fmt.Fprintf(out, "laid over: %d files with %d lines; %d of them replace files\n",
		c.laid.files, c.laid.lines, c.laid.replaced)
	for _, r := range excluded {
		if r.minor == v.minor {
			fmt.Fprintf(out, "excluded: %s: %s\n", r.name, r.reason)
		}
	}
	var failed []string
	for _, check := range checks {
		if !strings.Contains(check.name, only) || check.next && c.minor == minor {
			continue
		}
		start := time.Now()
		r, err := check.run(c, check)
		if err != nil {
			r.failures = append(r.failures, err.Error())
		}
		if check.logs && r.table == "" && c.minor != minor {
			r.failures = append(r.failures, "no table: the tests that log it are skipped with this minor")
		}
		fmt.Fprintf(out, "%s: %v (%.0f s)\n", check.name, r, time.Since(start).Seconds())
		fmt.Fprint(out, r.table)
		for _, f := range r.failures {
			fmt.Fprintf(out, "  FAILS: %s\n", strings.ReplaceAll(strings.TrimSpace(f), "\n", "\n    "))
		}
		if len(r.failures) > 0 || r.passed != r.all || r.all == 0 {
			failed = append(failed, check.name)
		}
	}
	fmt.Fprintf(out, "# %s took %.0f s\n\n", v.name, time.Since(start).Seconds())
	if len(failed) > 0 {
		return fmt.Errorf("failed: %s", strings.Join(failed, "; "))
	}
	return nil
}
