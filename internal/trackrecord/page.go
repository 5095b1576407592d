package main

import (
	"fmt"
	"os"
	"strings"
	"text/template"

	_ "embed"

	"github.com/kubewright/kubewright/internal/guarantee"
)

// page is the page that has the record as its last section. test/lab writes the rest, and keeps the section.
const page = "docs/reliability.md"

// heading begins the section.
const heading = "## Track record\n"

//go:embed page.tmpl
var pageTemplate string

// writePage replaces the section of the page.
func writePage(findings []finding) error {
	old, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	before, _, _ := strings.Cut(string(old), heading)
	text := strings.TrimRight(before, "\n") + "\n\n" + section(findings)
	return os.WriteFile(page, []byte(text), 0o644)
}

// row is a row of the table, for the template.
type row struct{ Bug, Report, Guarantee, Law, Seconds, Seed string }

// section makes the section.
func section(findings []finding) string {
	view := struct {
		Rows       []row
		Guarantees []guarantee.Row
	}{Guarantees: guarantee.Table()}
	for _, f := range findings {
		view.Rows = append(view.Rows, rowOf(f))
	}
	var b strings.Builder
	if err := template.Must(template.New("").Parse(pageTemplate)).Execute(&b, view); err != nil {
		panic(err)
	}
	return b.String()
}

func rowOf(f finding) row {
	repository, number, _ := strings.Cut(f.bug.Report, "#")
	var broken []string
	for _, g := range f.bug.Guarantees {
		broken = append(broken, string(g))
	}
	return row{Bug: f.name, Guarantee: strings.Join(broken, ", "), Law: rigs[f.bug.Rig].about, Seed: f.seed,
		Report:  fmt.Sprintf("[%s](https://github.com/%s/issues/%s)", f.bug.Report, repository, number),
		Seconds: fmt.Sprintf("%.1f", f.took.Seconds())}
}
