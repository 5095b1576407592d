// Command benchtable runs benchmarks that measure the project beside an
// incumbent and prints one table: what, ours, theirs, ratio.
//
// A benchmark takes part when two of its sub-benchmarks differ only in one
// name element, "ours" in one and "upstream" (or "client-go") in the other:
//
//	BenchmarkGet/ours/indexes=3
//	BenchmarkGet/client-go/indexes=3
//
// All benchmarks of a package run count times, each time in a new process, so that a
// disturbance of the machine affects ours and theirs alike. The table shows medians. The ratio
// is theirs divided by ours, for every unit, so a higher one is better for us.
package main

import (
	"bufio"
	"bytes"
	"cmp"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
)

func main() {
	count := flag.Int("count", 3, "runs of each benchmark; the table shows medians")
	benchtime := flag.String("benchtime", "", "passed to go test, when given")
	pattern := flag.String("bench", ".", "passed to go test")
	mem := flag.Bool("benchmem", true, "passed to go test; false for what runs other programs")
	flag.Parse()
	args := []string{"-test.run=^$", "-test.bench=" + *pattern, fmt.Sprintf("-test.benchmem=%t", *mem),
		"-test.timeout=120m"}
	if *benchtime != "" {
		args = append(args, "-test.benchtime="+*benchtime)
	}
	if err := run(os.Stdout, flag.Args(), args, *count); err != nil {
		fmt.Fprintln(os.Stderr, "benchtable:", err)
		os.Exit(1)
	}
}

// run builds the tests of the packages, runs their benchmarks count times, and writes the table
// to w.
func run(w io.Writer, patterns, args []string, count int) error {
	dir, err := os.MkdirTemp("", "benchtable")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	packages, err := packagesWithTests(patterns)
	if err != nil {
		return err
	}
	t := table{byKey: map[key]*row{}}
	for n, p := range packages {
		binary := filepath.Join(dir, strconv.Itoa(n)+".test")
		build := exec.Command("go", "test", "-c", "-o", binary, p.path)
		if out, err := build.CombinedOutput(); err != nil {
			return fmt.Errorf("%v: %w\n%s", build.Args, err, out)
		}
		for range count {
			cmd := exec.Command(binary, args...)
			cmd.Dir = p.dir
			out, err := cmd.CombinedOutput()
			other, rerr := t.read(bytes.NewReader(out))
			if err != nil {
				return fmt.Errorf("benchmarks of %s: %w\n%s", p.path, err, strings.Join(other, "\n"))
			}
			if rerr != nil {
				return rerr
			}
		}
		if err := os.Remove(binary); err != nil {
			return err
		}
	}
	rows := t.complete()
	if len(rows) == 0 {
		return fmt.Errorf("no benchmark with an incumbent beside it in %s", strings.Join(patterns, " "))
	}
	write(w, rows)
	return nil
}

type testedPackage struct{ path, dir string }

// packagesWithTests returns the packages with tests among those that the patterns match.
func packagesWithTests(patterns []string) ([]testedPackage, error) {
	cmd := exec.Command("go",
		append([]string{"list", "-f", `{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}} {{.Dir}}{{end}}`},
			patterns...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	var packages []testedPackage
	for line := range strings.Lines(string(out)) {
		path, dir, _ := strings.Cut(strings.TrimSpace(line), " ")
		packages = append(packages, testedPackage{path, dir})
	}
	return packages, nil
}

// key identifies a row of the table.
type key struct{ pkg, name, unit string }

// row has the measurements of a key, ours and theirs.
type row struct {
	key
	ours, theirs []float64
}

// table has the measurements of all runs, in the order in which their keys first appeared.
type table struct {
	rows  []*row
	byKey map[key]*row
}

// read adds the benchmark results in a test binary's output. It returns the other lines, for
// error messages.
func (t *table) read(r io.Reader) (other []string, err error) {
	pkg := ""
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		line := lines.Text()
		if p, ok := strings.CutPrefix(line, "pkg: "); ok {
			pkg = p
			continue
		}
		fields := strings.Fields(line)
		if len(fields) < 4 || !strings.HasPrefix(line, "Benchmark") {
			other = append(other, line)
			continue
		}
		name, ours, ok := split(fields[0])
		if !ok {
			continue
		}
		for i := 2; i+1 < len(fields); i += 2 {
			value, err := strconv.ParseFloat(fields[i], 64)
			if err != nil {
				return other, fmt.Errorf("%q: %w", line, err)
			}
			k := key{pkg, name, fields[i+1]}
			if t.byKey[k] == nil {
				t.byKey[k] = &row{key: k}
				t.rows = append(t.rows, t.byKey[k])
			}
			if ours {
				t.byKey[k].ours = append(t.byKey[k].ours, value)
			} else {
				t.byKey[k].theirs = append(t.byKey[k].theirs, value)
			}
		}
	}
	return other, lines.Err()
}

// complete returns the rows that have measurements of both sides.
func (t *table) complete() []*row {
	return slices.DeleteFunc(slices.Clone(t.rows),
		func(r *row) bool { return r.ours == nil || r.theirs == nil })
}

// split takes the element "ours", "upstream" or "client-go" out of a
// benchmark's name and the count of processors off its end.
func split(full string) (name string, ours, ok bool) {
	if i := strings.LastIndexByte(full, '-'); i > 0 {
		if _, err := strconv.Atoi(full[i+1:]); err == nil {
			full = full[:i]
		}
	}
	elems := strings.Split(strings.TrimPrefix(full, "Benchmark"), "/")
	for i, e := range elems {
		if e == "ours" || e == "upstream" || e == "client-go" {
			return strings.Join(slices.Delete(elems, i, i+1), "/"), e == "ours", true
		}
	}
	return "", false, false
}

func write(w io.Writer, rows []*row) {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(tw, "what\tunit\tours\ttheirs\tratio\t")
	for _, r := range rows {
		ours, theirs := median(r.ours), median(r.theirs)
		ratio := "-"
		if ours > 0 {
			ratio = fmt.Sprintf("%.2f", theirs/ours)
		} else if theirs > 0 {
			ratio = "inf"
		}
		fmt.Fprintf(tw, "%s %s\t%s\t%s\t%s\t%s\t\n", short(r.pkg), r.name, r.unit, number(ours),
			number(theirs), ratio)
	}
	tw.Flush()
}

func short(pkg string) string { return pkg[strings.LastIndexByte(pkg, '/')+1:] }

func number(f float64) string {
	if f >= 100 || f == float64(int64(f)) {
		return strconv.FormatFloat(f, 'f', 0, 64)
	}
	return strconv.FormatFloat(f, 'f', 2, 64)
}

func median[T cmp.Ordered](values []T) T {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}
