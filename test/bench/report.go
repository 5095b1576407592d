package main

import (
	"bytes"
	"cmp"
	_ "embed"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/template"
	"time"
)

// report is the content of the pages.
type report struct {
	Environment environment
	// Commits are the commits that were measured: one, unless parts were measured again after changes that don't
	// affect the others.
	Commits  []string
	Date     string
	Took     time.Duration
	Sections []section
	// Headlines are the most important rows, as far as they were measured. Missing has the keys of those rows of
	// the page that weren't.
	Headlines []shown
	Missing   []string
	Charts    []drawn
	// NotBetter are the rows of the page in which theirs is better, the worst first.
	NotBetter []shown
	// Total is the number of all rows. In Worse of them theirs is better, Equal have less than a thousandth of
	// difference, and Unclear have no ratio.
	Total, Worse, Equal, Unclear int
}

// section is what the page says of a part.
type section struct {
	Part, About string
	// Times is how often each row was measured.
	Times int
	Took  time.Duration
	Rows  []*row
	// Felt are the rows that the page shows, unless they are among the headlines, or theirs is better.
	Felt []shown
}

// shown is a headline, or another row that a user feels, with its measurements.
type shown struct {
	headline
	*row
}

func (s shown) OursInUnit() string   { return inUnit(median(s.Ours), s.Unit) }
func (s shown) TheirsInUnit() string { return inUnit(median(s.Theirs), s.Unit) }

// drawn is a chart that has bars.
type drawn struct {
	chart
	bars []shown
}

// File is the chart's path below docs.
func (d drawn) File() string    { return "benchmarks/" + d.name + ".svg" }
func (d drawn) Caption() string { return d.caption }

func newReport(results []result) *report {
	r := &report{Environment: results[0].Environment, Date: results[0].Started.UTC().Format(time.DateOnly)}
	byKey, sectionOf := map[string]*row{}, map[*row]int{}
	for i, res := range results {
		s := section{Part: res.Part, Took: res.Took.Round(time.Second), Rows: res.Rows}
		for _, p := range parts {
			if p.name == res.Part {
				s.About = p.about
			}
		}
		for _, row := range res.Rows {
			byKey[row.key()], sectionOf[row] = row, i
			s.Times = max(s.Times, len(row.Ours))
			r.count(row)
		}
		r.Sections = append(r.Sections, s)
		if !slices.Contains(r.Commits, res.Environment.Commit) {
			r.Commits = append(r.Commits, res.Environment.Commit)
		}
		r.Took += s.Took
	}
	for _, h := range headlines {
		if row := r.find(byKey, h); row != nil {
			r.Headlines = append(r.Headlines, shown{h, row})
		}
	}
	for _, h := range felt {
		if row := r.find(byKey, h); row != nil && !(row.ratio() < 1) {
			s := &r.Sections[sectionOf[row]]
			s.Felt = append(s.Felt, shown{h, row})
		}
	}
	slices.SortStableFunc(r.NotBetter, func(a, b shown) int { return cmp.Compare(a.ratio(), b.ratio()) })
	for _, c := range charts {
		d := drawn{chart: c}
		for _, h := range r.Headlines {
			if h.chart == c.name {
				d.bars = append(d.bars, h)
			}
		}
		if len(d.bars) > 0 {
			r.Charts = append(r.Charts, d)
		}
	}
	return r
}

// find returns the row of a headline, or nil if it wasn't measured.
func (r *report) find(byKey map[string]*row, h headline) *row {
	row := byKey[h.of]
	if row == nil {
		r.Missing = append(r.Missing, h.of)
	} else if row.ratio() < 1 {
		r.NotBetter = append(r.NotBetter, shown{h, row})
	}
	return row
}

func (r *report) count(row *row) {
	r.Total++
	switch ratio := row.ratio(); {
	case math.IsNaN(ratio):
		r.Unclear++
	case math.Abs(ratio-1) < .001:
		r.Equal++
	case ratio < 1:
		r.Worse++
	}
}

// ReadmeHeadlines are the headlines for README.
func (r *report) ReadmeHeadlines() (in []shown) {
	for _, h := range r.Headlines {
		if h.inReadme {
			in = append(in, h)
		}
	}
	return in
}

// ReadmeCharts are the charts for README.
func (r *report) ReadmeCharts() (in []drawn) {
	for _, d := range r.Charts {
		if d.inReadme {
			in = append(in, d)
		}
	}
	return in
}

//go:embed page.tmpl
var pageText string

//go:embed readme.tmpl
var readmeText string

var (
	pageTemplate = template.Must(
		template.New("page").Funcs(template.FuncMap{"join": strings.Join}).Parse(pageText))
	readmeTemplate = template.Must(template.New("readme").Parse(readmeText))
)

// render executes a template with the report.
func (r *report) render(t *template.Template) (string, error) {
	var b strings.Builder
	err := t.Execute(&b, r)
	return b.String(), err
}

// write writes the page, its charts and the table of all rows below dir, and root's README with its new
// section.
func (r *report) write(root, dir string) error {
	folder := filepath.Join(dir, "docs", "benchmarks")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	old, err := filepath.Glob(filepath.Join(folder, "*.svg"))
	if err != nil {
		return err
	}
	for _, name := range old {
		if err := os.Remove(name); err != nil {
			return err
		}
	}
	for _, d := range r.Charts {
		var b bytes.Buffer
		if err := d.draw(&b); err != nil {
			return fmt.Errorf("chart %s: %w", d.name, err)
		}
		if err := os.WriteFile(filepath.Join(dir, "docs", d.File()), b.Bytes(), 0o644); err != nil {
			return err
		}
	}
	page, err := r.render(pageTemplate)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "docs", "benchmarks.md"), []byte(page), 0o644); err != nil {
		return err
	}
	var data bytes.Buffer
	if err := r.writeData(&data); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "docs", dataFile), data.Bytes(), 0o644); err != nil {
		return err
	}
	readme, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		return err
	}
	s, err := r.render(readmeTemplate)
	if err != nil {
		return err
	}
	changed, err := withSection(string(readme), s)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "README.md"), []byte(changed), 0o644)
}
