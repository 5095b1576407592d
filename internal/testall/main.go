// Command testall runs everything that must pass, on a fresh machine too: linters, the tests of every module
// of the repository, and the check that generated code is current. It continues after a failure, so that one
// run shows everything that is wrong, and prints the counts last.
//
//	go run ./internal/testall [-short] [-only NAME]
//	go run ./internal/testall -vuln
//	go run ./internal/testall -fuzz 3m [-only NAME]
//
// The working directory must be the root of the repository.
package main

import (
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

func main() {
	short := flag.Bool("short", false, "pass -short to go test")
	only := flag.String("only", "", "run only the steps whose name contains this")
	vuln := flag.Bool("vuln", false, "look for known vulnerabilities instead")
	fuzz := flag.Duration("fuzz", 0, "run each fuzz target for this time instead")
	flag.Parse()
	var steps []step
	var err error
	switch {
	case *vuln:
		steps, err = vulnerabilities()
	case *fuzz > 0:
		steps, err = fuzzing(".", *fuzz)
	default:
		steps, err = plan(*short)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "testall:", err)
		os.Exit(1)
	}
	var sum counts
	var failed []string
	for _, s := range steps {
		if !strings.Contains(s.name, *only) {
			continue
		}
		start := time.Now()
		fmt.Printf("=== %s\n", s.name)
		c, err := s.run()
		sum.add(c)
		verdict := "ok"
		if err != nil {
			fmt.Println(err)
			verdict = "FAILED"
			failed = append(failed, s.name)
			if c.failed == 0 {
				sum.failed++ // a step that fails without a failing test still counts
			}
		} else if c == (counts{}) {
			sum.passed++ // a linter is one check
		}
		fmt.Printf("--- %s: %s in %.1f s%s\n", s.name, verdict, time.Since(start).Seconds(), c)
	}
	if len(failed) > 0 {
		fmt.Printf("\nfailed: %s\n", strings.Join(failed, "; "))
	}
	fmt.Printf("%d passed, %d failed, %d skipped\n", sum.passed, sum.failed, sum.skipped)
	if len(failed) > 0 || sum.failed > 0 || sum.passed == 0 {
		os.Exit(1)
	}
}

// step is one thing that must pass.
type step struct {
	name string
	run  func() (counts, error)
}

// plan lists the steps: linters first, since they fail fast.
func plan(short bool) ([]step, error) {
	modules, err := findModules(".")
	if err != nil {
		return nil, err
	}
	race := hasCompiler()
	if !race {
		fmt.Println("note: there is no C compiler, which the race detector needs; tests run without it")
	}
	steps := []step{{"gofmt", gofmt}}
	for _, m := range modules {
		steps = append(steps, step{"vet " + m, command(m, "go", "vet", "./...")})
	}
	steps = append(steps,
		step{"staticcheck", command(".", "go", "tool", "-modfile=go.tool.mod", "staticcheck", "./...")},
		step{"licences", licences(modules)},
		step{"generated code is current", command(".", "make", "--no-print-directory", "check")},
	)
	for _, m := range modules {
		args := []string{"-timeout", "40m"}
		if short {
			args = append(args, "-short")
		}
		tour := filepath.Join("examples", "tour") // runs an API server, too
		switch apart := m == tour || strings.HasPrefix(m, "test"+string(filepath.Separator)); {
		case apart:
			// These tests build and run programs of the main module. go test doesn't know that, so its cache
			// would return outdated results. They run without the race detector: with it, building API
			// servers would take longer than testing them.
			args = append(args, "-count=1")
		case race:
			args = append(args, "-race")
		}
		steps = append(steps, step{"test " + m, goTest(m, args)})
	}
	return steps, nil
}

// findModules returns the folders at and below root that contain a go.mod, root first.
func findModules(root string) ([]string, error) {
	var modules []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != root &&
			(strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || d.Name() == "node_modules"):
			return filepath.SkipDir
		case d.Name() == "go.mod":
			modules = append(modules, filepath.Dir(path))
		}
		return nil
	})
	return modules, err
}

func hasCompiler() bool {
	out, err := exec.Command("go", "env", "CC").Output()
	if err != nil {
		return false
	}
	fields := strings.Fields(string(out))
	if len(fields) == 0 {
		return false
	}
	_, err = exec.LookPath(fields[0])
	return err == nil
}

func gofmt() (counts, error) {
	out, err := exec.Command("git", "ls-files", "*.go").Output()
	if err != nil {
		return counts{}, fmt.Errorf("git ls-files: %w", err)
	}
	out, err = exec.Command("gofmt",
		append([]string{"-l"}, strings.Fields(string(out))...)...).CombinedOutput()
	if err != nil || len(out) > 0 {
		return counts{}, fmt.Errorf("gofmt would change:\n%s", out)
	}
	return counts{}, nil
}

// command runs a program in dir and shows its output if it fails.
func command(dir, name string, args ...string) func() (counts, error) {
	return func() (counts, error) {
		cmd := exec.Command(name, args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			return counts{}, fmt.Errorf("%s%w", out, err)
		}
		return counts{}, nil
	}
}
