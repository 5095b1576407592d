package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/template"
	"time"

	_ "embed"

	"github.com/kubewright/kubewright/test/lab/results"
)

//go:embed soak.tmpl
var soakTemplate string

// soakHeading begins the section of the page that make soak writes.
const soakHeading = "## Under load\n"

// soaked is a soak, for the template.
type soaked struct{ results.Soak }

// File is the chart's path below docs.
func (s soaked) File() string {
	return "reliability/" + strings.ReplaceAll(s.Server, " ", "-") + ".svg"
}

// soakView is the data of the template.
type soakView struct {
	Soaks                      []soaked
	Rows                       []soakRow
	Minutes, Handlers, Writers int
	Machine, Beside            string
}

// soakRow is a row of the table.
type soakRow struct {
	About, Bound string
	Cells        []string
}

// soakSection makes the section.
func soakSection(all []results.Soak) string {
	view := soakView{Handlers: all[0].Handlers, Minutes: int(all[0].Took.Round(time.Minute).Minutes()),
		Machine: all[0].Machine}
	busiest := 0.0
	for _, s := range all {
		view.Soaks = append(view.Soaks, soaked{s})
		view.Writers = max(view.Writers, s.Writers)
		busiest = max(busiest, load(s))
	}
	if busiest > 0 {
		view.Beside = fmt.Sprintf(
			", where %.1f threads wanted a core on average, those of other programs included", busiest)
	}
	for _, m := range measured {
		row := soakRow{About: m.about, Bound: m.bound}
		for _, s := range all {
			row.Cells = append(row.Cells, m.of(s))
		}
		view.Rows = append(view.Rows, row)
	}
	var b strings.Builder
	if err := template.Must(template.New("").Parse(soakTemplate)).Execute(&b, view); err != nil {
		panic(err)
	}
	return b.String()
}

// measured are the rows of the table.
var measured = []struct {
	about, bound string
	of           func(results.Soak) string
}{
	{"objects", "", func(s results.Soak) string { return thousands(s.Objects) }},
	{"changes", "", func(s results.Soak) string { return thousands(s.Changes) }},
	{"changes a second", "", func(s results.Soak) string {
		return thousands(int(float64(s.Changes) / s.Took.Seconds()))
	}},
	{"lag of the handlers that keep up: median", "",
		func(s results.Soak) string { return milliseconds(s.Lag50) }},
	{"99th percentile", "", func(s results.Soak) string { return milliseconds(s.Lag99) }},
	{"99th percentile of the slowest handler", "1 s",
		func(s results.Soak) string { return milliseconds(s.Slowest99) }},
	{"99th percentile in the worst five seconds", "", func(s results.Soak) string {
		return milliseconds(time.Duration(most(s, func(x results.Sample) int { return int(x.Lag99) })))
	}},
	{"backlog of the blocked handler, at most", "twice the objects", func(s results.Soak) string {
		return thousands(most(s, func(x results.Sample) int { return x.Backlog }))
	}},
	{"backlog of the others, at most", "", func(s results.Soak) string {
		return thousands(most(s, func(x results.Sample) int { return x.Others }))
	}},
	{"live heap before the start, MB", "", func(s results.Soak) string { return mb(s.Before.Live) }},
	{"with the initial list", "", func(s results.Soak) string { return mb(s.Synced.Live) }},
	{"at most", "below", func(s results.Soak) string {
		return mb(uint64(most(s, func(x results.Sample) int { return int(x.Live) })))
	}},
	{"its bound", "", func(s results.Soak) string { return mb(s.HeapBound()) }},
	{"after the stop", "as before", func(s results.Soak) string { return mb(s.After.Live) }},
	{"goroutines before, at most, after", "", func(s results.Soak) string {
		return fmt.Sprintf("%d, %d, %d", s.Before.Goroutines,
			most(s, func(x results.Sample) int { return x.Goroutines }), s.After.Goroutines)
	}},
	{"open files before, at most, after", "", func(s results.Soak) string {
		return fmt.Sprintf("%d, %d, %d", s.Before.Descriptors,
			most(s, func(x results.Sample) int { return x.Descriptors }), s.After.Descriptors)
	}},
	{"lists, beside the first", "", func(s results.Soak) string { return fmt.Sprint(s.Lists) }},
}

func most(s results.Soak, of func(results.Sample) int) (n int) {
	for _, x := range s.Samples {
		n = max(n, of(x))
	}
	return n
}

// load returns how many threads wanted a core on average.
func load(s results.Soak) (sum float64) {
	for _, x := range s.Samples {
		sum += x.Load / float64(len(s.Samples))
	}
	return sum
}

func mb(bytes uint64) string { return fmt.Sprintf("%.1f", float64(bytes)/1e6) }

func milliseconds(d time.Duration) string {
	return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1000)
}

// thousands puts commas between the digits.
func thousands(n int) string {
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// drawSoaks writes the charts.
func drawSoaks(docs string, all []results.Soak) error {
	for _, s := range all {
		var b bytes.Buffer
		if err := drawSoak(&b, s); err != nil {
			return err
		}
		name := filepath.Join(docs, soaked{s}.File())
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(name, b.Bytes(), 0o644); err != nil {
			return err
		}
	}
	return nil
}
