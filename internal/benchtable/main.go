// Command benchtable runs benchmarks that measure the project beside an
// incumbent and prints one table: what, ours, theirs, ratio.
//
// A benchmark takes part when two of its sub-benchmarks differ only in one
// name element, "ours" in one and "upstream" (or "client-go") in the other:
//
//	BenchmarkGet/ours/indexes=3
//	BenchmarkGet/client-go/indexes=3
//
// Both run in the same process, in turn, count times; the table shows medians.
// The ratio is theirs divided by ours, for every unit, so that more is better
// for us.
package main

import (
	"bufio"
	"cmp"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
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
	args := []string{"test", "-run", "^$", "-bench", *pattern, fmt.Sprintf("-benchmem=%t", *mem), "-timeout", "120m", "-count", strconv.Itoa(*count)}
	if *benchtime != "" {
		args = append(args, "-benchtime", *benchtime)
	}
	if err := run(os.Stdout, append(args, flag.Args()...)); err != nil {
		fmt.Fprintln(os.Stderr, "benchtable:", err)
		os.Exit(1)
	}
}

// run runs the go command and writes the table of what it measured to w.
func run(w io.Writer, args []string) error {
	cmd := exec.Command("go", args...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	rows, failures, err := read(out)
	if werr := cmd.Wait(); werr != nil {
		return fmt.Errorf("go test: %w\n%s", werr, strings.Join(failures, "\n"))
	}
	if err != nil {
		return err
	}
	if len(rows) == 0 {
		return fmt.Errorf("no benchmark with an incumbent beside it in go %s", strings.Join(args, " "))
	}
	write(w, rows)
	return nil
}

// key names one line of the table.
type key struct{ pkg, name, unit string }

// row collects the measurements of one key, ours and theirs.
type row struct {
	key
	ours, theirs []float64
}

// read parses the output of go test -bench. It also returns the lines that
// are no benchmark results, for error messages.
func read(r io.Reader) (rows []*row, other []string, err error) {
	byKey := map[key]*row{}
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
				return nil, other, fmt.Errorf("%q: %w", line, err)
			}
			k := key{pkg, name, fields[i+1]}
			if byKey[k] == nil {
				byKey[k] = &row{key: k}
				rows = append(rows, byKey[k])
			}
			if ours {
				byKey[k].ours = append(byKey[k].ours, value)
			} else {
				byKey[k].theirs = append(byKey[k].theirs, value)
			}
		}
	}
	rows = slices.DeleteFunc(rows, func(r *row) bool { return r.ours == nil || r.theirs == nil })
	return rows, other, lines.Err()
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
		fmt.Fprintf(tw, "%s %s\t%s\t%s\t%s\t%s\t\n", short(r.pkg), r.name, r.unit, number(ours), number(theirs), ratio)
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
