package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/template"

	_ "embed"
)

// results is what is known of all programs. It is kept in a file, from which the page is made, because no one
// runs all programs at once.
type results struct {
	Tests   []testsRow
	Started []startedRow
}

// testsRow has the tests of a program in three states, how many lines the move changed, and whether the way
// back left no difference.
type testsRow struct {
	Program                 string
	Lines                   int
	Released, Raised, Moved string
	Back                    string
}

// Notes are those of the programs.
func (r results) Notes() (notes []string) {
	for _, p := range programs {
		if p.note != "" {
			notes = append(notes, p.name+": "+p.note)
		}
	}
	return notes
}

// startedRow has the costs of a program in each round.
type startedRow struct {
	Program string
	Kinds   []string
	// About says how the program moved.
	About         string
	Raised, Moved []cost
}

// What lists the kinds.
func (r startedRow) What() string { return strings.Join(r.Kinds, ", ") }

// Cell returns the medians of a cost and their ratio.
func (r startedRow) Cell(of string) string {
	raised, moved := r.median(r.Raised, of), r.median(r.Moved, of)
	number := "%.0f"
	if of == "CPU" {
		number = "%.2f"
	}
	ratio := strings.TrimPrefix(fmt.Sprintf("%.2f", moved/raised), "0")
	return fmt.Sprintf(number+" → "+number+" (%s)", raised, moved, ratio)
}

func (r startedRow) median(costs []cost, of string) float64 {
	var values []float64
	for _, c := range costs {
		values = append(values, map[string]float64{"CPU": c.CPU, "Peak": c.Peak, "Live": c.Live}[of])
	}
	slices.Sort(values)
	return values[len(values)/2]
}

// put replaces the row of a program, or inserts it in the order of the programs.
func put[R any](rows []R, row R, name func(R) string) []R {
	place := func(r R) int {
		return slices.IndexFunc(programs, func(p program) bool { return p.name == name(r) })
	}
	i, found := slices.BinarySearchFunc(rows, row, func(a, b R) int { return place(a) - place(b) })
	if found {
		rows[i] = row
		return rows
	}
	return slices.Insert(rows, i, row)
}

const resultsFile = "results.json"

func readResults(dir string) (r results, err error) {
	text, err := os.ReadFile(filepath.Join(dir, resultsFile))
	if err != nil {
		return r, err
	}
	return r, json.Unmarshal(text, &r)
}

// write writes the file of results, and the page.
func (r results) write(dir, page string) error {
	text, err := json.MarshalIndent(r, "", "\t")
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, resultsFile), append(text, '\n'), 0o644); err != nil {
		return err
	}
	return os.WriteFile(page, r.page(), 0o644)
}

//go:embed page.tmpl
var pageTemplate string

// page makes the page.
func (r results) page() []byte {
	var b bytes.Buffer
	if err := template.Must(template.New("").Parse(pageTemplate)).Execute(&b, r); err != nil {
		panic(err)
	}
	return b.Bytes()
}
