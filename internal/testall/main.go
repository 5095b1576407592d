// Command testall runs everything that must pass, on a fresh machine too: linters, the tests of every module
// of the repository, and the check that generated code is current. It continues after a failure, so that one
// run shows everything that is wrong, and prints the counts last.
//
//	go run ./internal/testall [-long] [-only NAME]
//	go run ./internal/testall -vuln
//	go run ./internal/testall -fuzz 3m [-only NAME]
//
// The working directory must be the root of the repository.
package main

import (
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

func main() {
	long := flag.Bool("long", false, "run tests in their long form, without go test's -short")
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
		steps, err = fuzzing(".", fuzz.String())
	default:
		steps, err = plan(*long)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "testall:", err)
		os.Exit(1)
	}
	steps = slices.DeleteFunc(steps, func(s step) bool { return !strings.Contains(s.name, *only) })
	sum, failed := runAll(os.Stdout, steps)
	if len(failed) > 0 {
		fmt.Printf("\nfailed: %s\n", strings.Join(failed, "; "))
	}
	fmt.Printf("tests took %.0f s of CPU, compiling and linking included\n", sum.cpu.Seconds())
	fmt.Printf("%d passed, %d failed, %d skipped\n", sum.passed, sum.failed, sum.skipped)
	if len(failed) > 0 || sum.failed > 0 || sum.passed == 0 {
		os.Exit(1)
	}
}

// plan lists the steps: linters first, since they fail fast.
func plan(long bool) ([]step, error) {
	modules, err := findModules(".")
	if err != nil {
		return nil, err
	}
	// This module has no tests, only a call of kube-apiserver's main. To vet it, go compiles all of Kubernetes.
	compiled := slices.DeleteFunc(slices.Clone(modules), func(m string) bool {
		return m == filepath.Join("test", "kubeapiserver")
	})
	race := hasCompiler()
	if !race {
		fmt.Println("note: there is no C compiler, which the race detector needs; tests run without it")
	}
	steps, err := tests(compiled, race, long)
	return append(linting(modules, compiled), steps...), err
}

// linting returns the steps that look at code without running it.
func linting(modules, compiled []string) []step {
	steps := []step{
		{name: "gofmt", run: gofmt},
		{name: "generated code is current", run: command(".", "make", "--no-print-directory", "check")},
		{name: "staticcheck",
			run: command(".", "go", "tool", "-modfile=go.tool.mod", "staticcheck", "./...")},
		{name: "licences", run: licences(modules)},
	}
	for _, m := range compiled {
		steps = append(steps, step{name: "vet " + m, run: command(m, "go", "vet", "./...")})
	}
	for i := range steps {
		steps[i].overlaps = true
	}
	return steps
}

// tests returns the steps that run tests: those of the main module, which run alone, since they measure
// memory and time, then those that run servers, then the others.
func tests(modules []string, race, long bool) (steps []step, err error) {
	var apart, rest []step
	for _, m := range modules {
		// An earlier step has vetted the tests. Linking without symbols takes less time.
		args := []string{"-timeout", "40m", "-vet=off", "-ldflags=-s"}
		if !long {
			args = append(args, "-short")
		}
		switch {
		case runsServers(m):
			// These tests build and run programs of the main module. go test doesn't know that, so its cache
			// would return outdated results. They run without the race detector: with it, building API
			// servers would take longer than testing them.
			args = append(args, "-count=1")
			packages := []string{"./..."}
			if m == filepath.Join("test", "e2e") && !long {
				if packages, err = withShortTests(m); err != nil {
					return nil, err
				}
			}
			apart = append(apart, step{name: "test " + m, run: goTest(m, args, packages...), overlaps: true})
		case m == "." && race && !long:
			linked, others, err := partsOfMain(m)
			if err != nil {
				return nil, err
			}
			// Linkers use less than one core each, so one more than there are cores runs.
			more := fmt.Sprint("-p=", runtime.NumCPU()+1)
			steps = append(steps,
				step{name: "test what programs link",
					run: goTest(m, append(slices.Clone(args), "-race", more), linked...)},
				step{name: "test commands and tools", run: goTest(m, args, others...)})
		default:
			if race {
				args = append(args, "-race")
			}
			one := step{name: "test " + m, run: goTest(m, args, "./..."), overlaps: m != "."}
			// make test runs these tests with the newest versions only. With the oldest, go vet compiles them,
			// and make nightly runs them.
			if _, err := os.Stat(filepath.Join(m, newestMod)); err == nil {
				newest := step{name: one.name + " with " + newestMod, overlaps: true,
					run: goTest(m, append(slices.Clone(args), "-modfile="+newestMod), "./...")}
				rest = append(rest, newest)
				if !long {
					continue
				}
			}
			if m == "." {
				steps = append(steps, one)
			} else {
				rest = append(rest, one)
			}
		}
	}
	return slices.Concat(steps, apart, rest), nil
}

// runsServers reports whether the tests of a module run API servers and other programs, and mostly wait for
// them.
func runsServers(module string) bool {
	return strings.HasPrefix(module, "test"+string(filepath.Separator)) || module == "envtest" ||
		module == filepath.Join("examples", "tour") || module == filepath.Join("generators", "crdtest")
}

// onlyLong are packages of test/e2e all of whose tests are skipped with -short: they need a kube-apiserver.
// Linking them takes longer than most tests.
var onlyLong = []string{"kube", "kubeserver"}

// withShortTests returns the packages of test/e2e but onlyLong.
func withShortTests(dir string) ([]string, error) {
	all, err := listPackages(dir, "./...")
	all = slices.DeleteFunc(all, func(p string) bool { return slices.Contains(onlyLong, filepath.Base(p)) })
	return all, err
}

func listPackages(dir string, args ...string) ([]string, error) {
	cmd := exec.Command("go", append([]string{"list", "-e"}, args...)...)
	cmd.Dir = dir
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w\n%s", err, stderr.String())
	}
	return strings.Fields(string(out)), nil
}

// partsOfMain returns the packages of the main module in two parts: those that programs link, and the others,
// which are commands, tools and examples. The tests of these mostly wait for the go command. Generators work
// on several goroutines, too; make nightly looks for races there.
func partsOfMain(dir string) (linked, others []string, err error) {
	all, err := listPackages(dir, "./...")
	if err != nil {
		return nil, nil, err
	}
	needed, err := listPackages(dir, "-deps", "./eyes/...", "./informers/...", "./runtime/...", "./sharding/...")
	if err != nil {
		return nil, nil, err
	}
	for _, path := range all {
		if slices.Contains(needed, path) {
			linked = append(linked, path)
		} else {
			others = append(others, path)
		}
	}
	return linked, others, nil
}

// newestMod is a go.mod with the newest versions that a module works with, where go.mod has the oldest ones.
const newestMod = "newest.mod"

// findModules returns the folders at and below root that contain a go.mod, root first.
func findModules(root string) ([]string, error) {
	var modules []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != root &&
			(strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || d.Name() == "node_modules" ||
				path == filepath.Join(root, "upstream")): // parts of packages, which make upstream compiles
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

func gofmt(io.Writer) (counts, error) {
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
func command(dir, name string, args ...string) func(io.Writer) (counts, error) {
	return func(io.Writer) (counts, error) {
		cmd := exec.Command(name, args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			return counts{}, fmt.Errorf("%s%w", out, err)
		}
		return counts{}, nil
	}
}
