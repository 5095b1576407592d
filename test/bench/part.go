package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// part is a set of benchmarks that run with the same settings.
type part struct {
	name string
	// about describes, on the page, what the part measures.
	about string
	// module is the folder of the module, relative to the root. packages is a pattern in it.
	module, packages string
	// modfile is the go.mod to build with, if it isn't the module's.
	modfile string
	// count is how often the benchmarks of a package run, each time in a new process, so that a disturbance of
	// the machine affects ours and theirs alike.
	count int
	args  []string
	// apart are the files that don't affect the part, as git's pathspecs: results stay valid when these files
	// change.
	apart []string
}

// words affect no measurement. The generators affect only the part that measures them.
var (
	words     = []string{":!*.md", ":!*.svg", ":!*.tsv", ":!test/bench", ":!Makefile"}
	noTools   = slices.Concat(words, []string{":!cmd", ":!generators", ":!templates", ":!test/parity"})
	noServers = slices.Concat(noTools, []string{":!test/e2e"})
)

// once is for benchmarks that run other programs: they measure these, and repeat the measurements themselves.
var once = []string{"-test.benchtime=1x"}

var parts = []part{
	{
		name:   "wire",
		about:  "an informer from a recorded server to its synced cache, each mode in a process of its own",
		module: ".", packages: "./internal/wirebench",
		count: 1, args: once,
		apart: noServers,
	},
	{
		name:   "server",
		about:  "the same from a real API server for custom resources",
		module: "test/e2e", packages: "./wirebench",
		count: 1, args: once,
		apart: noTools,
	},
	{
		name:   "manager",
		about:  "the same from a recorded server for the cache of a controller-runtime manager",
		module: "contrib/controller-runtime", packages: "./wirebench", modfile: "newest.mod",
		count: 1, args: once,
		apart: noServers,
	},
	{
		name:   "sharding",
		about:  "an informer of a part of 200,000 custom resources of 1 KB, beside one of client-go's that has all",
		module: ".", packages: "./internal/wirebench/parts",
		count: 1, args: once,
		apart: noServers,
	},
	{
		name:   "runtime",
		about:  "the pieces of the runtime, in one process",
		module: ".", packages: "./runtime/...",
		count: 3, args: []string{"-test.benchmem"},
		apart: noServers,
	},
	{
		name:   "controller-runtime",
		about:  "our priority queue beside controller-runtime's",
		module: "contrib/controller-runtime", packages: ".", modfile: "newest.mod",
		count: 3, args: []string{"-test.benchmem"},
		apart: noServers,
	},
	{
		name:   "generators",
		about:  "the generators as commands, and the code that they generate",
		module: "test/parity", packages: "./gentools",
		count: 5, args: once,
		apart: words,
	},
}

func partNames() (names []string) {
	for _, p := range parts {
		names = append(names, p.name)
	}
	return names
}

// errNothing means that a part has no benchmark that compares with an incumbent.
var errNothing = errors.New("no benchmark with an incumbent beside it")

// run builds the tests of the part's packages and runs their benchmarks: those that match bench, or all if
// that is empty.
func (p part) run(ctx context.Context, bench string, progress *progress) (result, error) {
	started := time.Now()
	env, err := currentEnvironment(ctx)
	if err != nil {
		return result{}, err
	}
	// The folder has the binaries, and what their benchmarks leave. It is removed only after the last run,
	// because deleting files slows later runs; see sandbox in test/parity/gentools.
	dir, err := os.MkdirTemp("", "bench")
	if err != nil {
		return result{}, err
	}
	defer os.RemoveAll(dir)
	packages, err := p.withBenchmarks(ctx)
	if err != nil {
		return result{}, err
	}
	args := []string{"-test.run=^$", "-test.bench=" + cmp.Or(bench, "."), "-test.timeout=120m"}
	args = append(args, p.args...)
	measured := newMeasurements()
	for n, pkg := range packages {
		progress.say("%s: %s, building", p.name, pkg.name())
		binary := filepath.Join(dir, strconv.Itoa(n)+".test")
		_, err := output(ctx, filepath.Join(root, p.module), "go", "test", "-modfile="+p.modfile, "-c",
			"-o", binary, pkg.path)
		if err != nil {
			return result{}, err
		}
		for run := range p.count {
			at, of := n*p.count+run+1, len(packages)*p.count
			progress.say("%s: %s, run %d of %d", p.name, pkg.name(), at, of)
			if err := pkg.run(ctx, binary, args, measured, progress.saw); err != nil {
				return result{}, err
			}
		}
		if err := os.Remove(binary); err != nil {
			return result{}, err
		}
	}
	env.CPU = measured.cpu
	r := result{p.name, env, started, time.Since(started), measured.complete()}
	if len(r.Rows) == 0 {
		return r, fmt.Errorf("%s: %w", p.name, errNothing)
	}
	return r, nil
}

// testedPackage is a package with benchmarks.
type testedPackage struct{ path, dir string }

const modulePath = "github.com/kubewright/kubewright/"

// name is the package's path inside the repository.
func (t testedPackage) name() string { return strings.TrimPrefix(t.path, modulePath) }

var benchmark = regexp.MustCompile(`(?m)^func Benchmark`)

// withBenchmarks returns the packages with benchmarks, of those that the part's pattern matches.
func (p part) withBenchmarks(ctx context.Context) (packages []testedPackage, err error) {
	const format = "{{.ImportPath}} {{.Dir}}" +
		"{{range .TestGoFiles}} {{.}}{{end}}{{range .XTestGoFiles}} {{.}}{{end}}"
	out, err := output(ctx, filepath.Join(root, p.module), "go", "list", "-f", format, p.packages)
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(out) {
		fields := strings.Fields(line)
		pkg := testedPackage{fields[0], fields[1]}
		for _, file := range fields[2:] {
			text, err := os.ReadFile(filepath.Join(pkg.dir, file))
			if err != nil {
				return nil, err
			}
			if benchmark.Match(text) {
				packages = append(packages, pkg)
				break
			}
		}
	}
	return packages, nil
}

// run runs the benchmarks of a package's test binary once. It calls seen for each result. The benchmarks may
// leave files in the binary's folder, which BENCH_SCRATCH names.
func (t testedPackage) run(
	ctx context.Context, binary string, args []string, measured *measurements, seen func(string),
) error {
	cmd := exec.CommandContext(ctx, binary, args...)
	cmd.Dir = t.dir
	cmd.Env = append(cmd.Environ(), "BENCH_SCRATCH="+filepath.Dir(binary))
	// Logs are kept apart: they would break the lines of results.
	var logged bytes.Buffer
	cmd.Stderr = &logged
	cmd.WaitDelay = 10 * time.Second
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	other, readErr := measured.read(t.name(), stdout, seen)
	if readErr != nil {
		io.Copy(io.Discard, stdout)
	}
	if err := cmd.Wait(); err != nil {
		return fmt.Errorf("benchmarks of %s: %w\n%s\n%s", t.path, err, strings.Join(other, "\n"), logged.Bytes())
	}
	return readErr
}

// output runs a command in dir and returns what it prints.
func output(ctx context.Context, dir, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%v: %w\n%s%s", cmd.Args, err, out, stderr.Bytes())
	}
	return string(out), nil
}
