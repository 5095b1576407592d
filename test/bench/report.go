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
	// Headlines are the most important rows, as far as they were measured. Missing has the keys of the others.
	Headlines []shown
	Missing   []string
	Charts    []drawn
	// Worse are the rows in which theirs is better, the worst first. Equal are those with less than a thousandth
	// of difference, Unclear those without a ratio.
	Worse, Equal, Unclear []*row
	// Total is the number of all rows.
	Total int
}

// section is a part of the table of all rows.
type section struct {
	Part, About string
	// Times is how often each row was measured.
	Times int
	Took  time.Duration
	Rows  []*row
}

// Shares are the rows that have a share.
func (s section) Shares() []*row { return withShares(s.Rows) }

// shown is a headline with its row.
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
	byKey := map[string]*row{}
	for _, res := range results {
		s := section{Part: res.Part, Took: res.Took.Round(time.Second), Rows: res.Rows}
		for _, p := range parts {
			if p.name == res.Part {
				s.About = p.about
			}
		}
		for _, row := range res.Rows {
			byKey[row.key()] = row
			s.Times = max(s.Times, len(row.Ours))
			r.sort(row)
		}
		r.Sections = append(r.Sections, s)
		if !slices.Contains(r.Commits, res.Environment.Commit) {
			r.Commits = append(r.Commits, res.Environment.Commit)
		}
		r.Took += s.Took
		r.Total += len(res.Rows)
	}
	slices.SortStableFunc(r.Worse, func(a, b *row) int { return cmp.Compare(a.ratio(), b.ratio()) })
	for _, h := range headlines {
		if row := byKey[h.of]; row != nil {
			r.Headlines = append(r.Headlines, shown{h, row})
		} else {
			r.Missing = append(r.Missing, h.of)
		}
	}
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

func (r *report) sort(row *row) {
	switch ratio := row.ratio(); {
	case math.IsNaN(ratio):
		r.Unclear = append(r.Unclear, row)
	case math.Abs(ratio-1) < .001:
		r.Equal = append(r.Equal, row)
	case ratio < 1:
		r.Worse = append(r.Worse, row)
	}
}

// ReadmeHeadlines are the headlines for README.
func (r *report) ReadmeHeadlines() []shown { return r.Headlines[:min(inReadme, len(r.Headlines))] }

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

// write writes the page and its charts below dir, and root's README with its new section.
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
