package main

import (
	"fmt"
	"io"
	"text/tabwriter"
)

// writeRows writes the table of a part's rows for a terminal.
func writeRows(w io.Writer, rows []*row) {
	tw := newTable(w)
	fmt.Fprintln(tw, "what\tunit\tours\ttheirs\tratio\tours, spread\ttheirs, spread\t")
	for _, r := range rows {
		fmt.Fprintf(tw, "%s %s\t%s\t%s\t%s\t%s\t%s\t%s\t\n", r.Package, r.Name, r.Unit,
			r.OursMedian(), r.TheirsMedian(), r.Ratio(), r.OursSpread(), r.TheirsSpread())
	}
	tw.Flush()
}

// withShares returns the rows that have a share.
func withShares(rows []*row) (shared []*row) {
	for _, r := range rows {
		if r.Share != nil {
			shared = append(shared, r)
		}
	}
	return shared
}

// writeShares writes the table of rows that have a share for a terminal.
func writeShares(w io.Writer, rows []*row) {
	tw := newTable(w)
	fmt.Fprintln(tw, "what\tunit\tours\tshare\tmore\t")
	for _, r := range rows {
		fmt.Fprintf(tw, "%s %s\t%s\t%s\t%s\t%s\t\n", r.Package, r.Name, r.Unit,
			r.OursMedian(), r.ShareMedian(), r.Excess())
	}
	tw.Flush()
}

// writeHeadlines writes the table of the most important rows for a terminal.
func writeHeadlines(w io.Writer, headlines []shown) {
	tw := newTable(w)
	fmt.Fprintln(tw, "what\tours\ttheirs\tratio\t")
	for _, h := range headlines {
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t\n", h.Label, h.OursInUnit(), h.TheirsInUnit(), h.Ratio())
	}
	tw.Flush()
}

func newTable(w io.Writer) *tabwriter.Writer {
	return tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
}
