package main

import (
	"bufio"
	"io"
	"slices"
	"strings"
)

// dataFile is the name of the file with all rows, beside the page.
const dataFile = "benchmarks.tsv"

// columns are those of dataFile. The ratio may be chance where the measurements of ours and theirs overlap.
var columns = []string{
	"part", "package", "benchmark", "unit", "ratio", "overlap", "ours", "theirs", "share",
	"ours, lowest", "ours, highest", "theirs, lowest", "theirs, highest",
}

// writeData writes all rows for programs: tabs separate the cells, and numbers have no commas. The cell of a
// ratio that doesn't exist is empty.
func (r *report) writeData(w io.Writer) error {
	b := bufio.NewWriter(w)
	line := func(cells ...string) { b.WriteString(strings.Join(cells, "\t") + "\n") }
	line(columns...)
	for _, s := range r.Sections {
		for _, row := range s.Rows {
			ratio, overlap := strings.CutPrefix(row.Ratio(), about)
			if ratio == "-" {
				ratio = ""
			}
			line(s.Part, row.Package, row.Name, row.Unit, plain(ratio), yes(overlap),
				plain(row.OursMedian()), plain(row.TheirsMedian()), share(row),
				plain(figure(slices.Min(row.Ours))), plain(figure(slices.Max(row.Ours))),
				plain(figure(slices.Min(row.Theirs))), plain(figure(slices.Max(row.Theirs))))
		}
	}
	return b.Flush()
}

// plain is a figure as programs read it.
func plain(figure string) string { return strings.NewReplacer(",", "", "∞", "inf").Replace(figure) }

func yes(b bool) string {
	if b {
		return "yes"
	}
	return ""
}

func share(r *row) string {
	if r.Share == nil {
		return ""
	}
	return plain(r.ShareMedian())
}
