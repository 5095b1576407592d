package main

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
)

// row has the measurements of a benchmark in one of its units, ours and theirs.
type row struct {
	Package, Name, Unit string
	Ours, Theirs        []float64
	// Share is what ours should cost, if the benchmark is about a part of the objects: what these cost among
	// all.
	Share []float64
}

// key names a row: package, benchmark and unit.
func (r *row) key() string { return r.Package + " " + r.Name + " " + r.Unit }

// ratio is how many times better ours is by the medians: above 1 ours is better, below 1 theirs, whatever the
// unit. It is 0 or infinite where one of them is 0, and NaN where a measured difference came out negative.
func (r *row) ratio() float64 {
	worse, better := median(r.Theirs), median(r.Ours)
	if moreIsBetter(r.Unit) {
		worse, better = better, worse
	}
	switch {
	case worse == better:
		return 1
	case worse < 0 || better < 0:
		return math.NaN()
	}
	return worse / better
}

// moreIsBetter reports whether a larger number of a unit is better: it is for a rate, such as MB/s.
func moreIsBetter(unit string) bool { return strings.HasSuffix(unit, "/s") }

// excess returns by how many percent ours exceeds its share.
func (r *row) excess() float64 { return 100 * (median(r.Ours)/median(r.Share) - 1) }

// overlap reports whether the ranges of ours and theirs overlap: then the ratio may be chance.
func (r *row) overlap() bool {
	return slices.Min(r.Ours) <= slices.Max(r.Theirs) && slices.Min(r.Theirs) <= slices.Max(r.Ours)
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}

// measurements are those of all runs of a part.
type measurements struct {
	// rows are in the order of their first measurements.
	rows  []*row
	byKey map[string]*row
	// cpu is the model of the processor, as the test binaries print it.
	cpu string
}

func newMeasurements() *measurements {
	return &measurements{byKey: map[string]*row{}, cpu: "unknown CPU"}
}

// read adds the results in the output of a package's test binary, and calls seen for each. It returns the
// other lines, for error messages.
func (m *measurements) read(pkg string, r io.Reader, seen func(name string)) (other []string, err error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		line := lines.Text()
		if model, ok := strings.CutPrefix(line, "cpu: "); ok {
			m.cpu = model
		}
		fields := strings.Fields(line)
		if len(fields) < 4 || !strings.HasPrefix(line, "Benchmark") {
			other = append(other, line)
			continue
		}
		seen(fields[0])
		name, side := split(fields[0])
		if side == "" {
			continue
		}
		for i := 2; i+1 < len(fields); i += 2 {
			value, err := strconv.ParseFloat(fields[i], 64)
			if err != nil {
				return other, fmt.Errorf("%q: %w", line, err)
			}
			m.add(row{Package: pkg, Name: name, Unit: fields[i+1]}, side, value)
		}
	}
	return other, lines.Err()
}

func (m *measurements) add(of row, side string, value float64) {
	r := m.byKey[of.key()]
	if r == nil {
		r = &of
		m.byKey[of.key()] = r
		m.rows = append(m.rows, r)
	}
	switch side {
	case "ours":
		r.Ours = append(r.Ours, value)
	case "share":
		r.Share = append(r.Share, value)
	default:
		r.Theirs = append(r.Theirs, value)
	}
}

// complete returns the rows that have measurements of both sides.
func (m *measurements) complete() []*row {
	return slices.DeleteFunc(m.rows, func(r *row) bool { return r.Ours == nil || r.Theirs == nil })
}

var sides = []string{"ours", "upstream", "client-go", "share"}

// split takes the element "ours", "upstream", "client-go" or "share" out of a benchmark's name. It also
// removes the count of processors from the end, and from each element the number that the testing package
// appends to sub-benchmarks of the same name, which are measurements of the same thing.
func split(full string) (name, side string) {
	if i := strings.LastIndexByte(full, '-'); i > 0 {
		if _, err := strconv.Atoi(full[i+1:]); err == nil {
			full = full[:i]
		}
	}
	var kept []string
	for elem := range strings.SplitSeq(strings.TrimPrefix(full, "Benchmark"), "/") {
		if bare, number, numbered := strings.Cut(elem, "#"); numbered {
			if _, err := strconv.Atoi(number); err == nil {
				elem = bare
			}
		}
		if side == "" && slices.Contains(sides, elem) {
			side = elem
			continue
		}
		kept = append(kept, elem)
	}
	return strings.Join(kept, "/"), side
}
