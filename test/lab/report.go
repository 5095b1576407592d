package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/template"

	_ "embed"

	"github.com/kubewright/kubewright/test/lab/fault"
	"github.com/kubewright/kubewright/test/lab/results"
)

// implementations are the columns of the tables.
var implementations = []string{"ours", "facade", "client-go"}

//go:embed page.tmpl
var pageTemplate string

// report makes the page.
func report(all []results.Result) string {
	var b strings.Builder
	view := view{Tests: tests(all), Kept: faults(all, fault.Kept), Unusable: faults(all, fault.Unusable),
		Wrong: faults(all, fault.Wrong), Kinds: len(fault.All())}
	if err := template.Must(template.New("").Parse(pageTemplate)).Execute(&b, view); err != nil {
		panic(err)
	}
	return b.String()
}

// view is the data of the template.
type view struct {
	Tests []testRow
	// The faults are by class.
	Kept, Unusable, Wrong []faultRow
	Kinds                 int
}

// testRow is a row of the table of tests: what was done where, and how each implementation fared.
type testRow struct {
	Half, Protocol, Test string
	Trials, Faults       int
	Cells                []string
}

// faultRow is a row of a table of faults: how informers of generated code fared, and client-go's.
type faultRow struct {
	fault.Fault
	Options, Ours, ClientGo string
}

// tests sums up all results but those of single faults, grouped by place, protocol and test.
func tests(all []results.Result) (rows []testRow) {
	type key struct{ half, protocol, test string }
	grouped := map[key]map[string]results.Result{}
	for _, r := range all {
		k := key{r.Half, r.Protocol, r.Test}
		if grouped[k] == nil {
			grouped[k] = map[string]results.Result{}
		}
		grouped[k][r.Implementation] = sum(grouped[k][r.Implementation], r)
	}
	for _, k := range slices.SortedFunc(maps.Keys(grouped), func(a, b key) int {
		return cmp.Or(strings.Compare(b.half, a.half), strings.Compare(a.test, b.test),
			strings.Compare(b.protocol, a.protocol))
	}) {
		row := testRow{Half: k.half, Protocol: k.protocol, Test: k.test}
		for _, name := range implementations {
			r, ok := grouped[k][name]
			row.Trials, row.Faults = max(row.Trials, r.Trials), max(row.Faults, r.Faults)
			row.Cells = append(row.Cells, cell(r, ok))
		}
		rows = append(rows, row)
	}
	return rows
}

// faults sums the results of each fault of a class.
func faults(all []results.Result, class fault.Class) (rows []faultRow) {
	for _, f := range fault.All() {
		if f.Class == class {
			rows = append(rows, faultRow{f, needs(f), fared(all, f, "ours"), fared(all, f, "client-go")})
		}
	}
	return rows
}

// fared sums how an implementation fared with a fault.
func fared(all []results.Result, f fault.Fault, implementation string) string {
	var total results.Result
	for _, r := range all {
		if r.Fault == f.Name && r.Implementation == implementation {
			total = sum(total, r)
		}
	}
	return cell(total, total.Trials > 0)
}

func sum(a, b results.Result) results.Result {
	a.Trials += b.Trials
	a.Faults += b.Faults
	a.Took = max(a.Took, b.Took)
	verdicts := maps.Clone(b.Verdicts)
	for v, n := range a.Verdicts {
		if verdicts == nil {
			verdicts = map[results.Verdict]int{}
		}
		verdicts[v] += n
	}
	a.Verdicts = verdicts
	return a
}

// cell returns the longest time until everything was right, in seconds, or, if some trials failed, how many
// and why.
func cell(r results.Result, ok bool) string {
	if !ok {
		return ""
	}
	var words []string
	for _, v := range slices.Sorted(maps.Keys(r.Verdicts)) {
		words = append(words, fmt.Sprintf("%d of %d %s", r.Verdicts[v], r.Trials, v))
	}
	if len(words) == 0 && r.Took == 0 {
		return "right"
	}
	if len(words) == 0 {
		return fmt.Sprintf("%.1f", r.Took.Seconds())
	}
	return strings.Join(words, ", ")
}

// needs returns the options that an informer needs to recover from a fault without waiting for the watch's
// timeout.
func needs(f fault.Fault) string {
	var options []string
	if f.Silence {
		options = append(options, "SilenceTimeout")
	}
	if f.InitialEvents {
		options = append(options, "InitialEventsTimeout")
	}
	return strings.Join(options, ", ")
}
