package main

import (
	"strings"
	"testing"
	"time"

	"github.com/kubewright/kubewright/test/lab/fault"
	"github.com/kubewright/kubewright/test/lab/results"
)

// TestReport makes a page of a few results: every fault has a row, and verdicts are counted.
func TestReport(t *testing.T) {
	text := report([]results.Result{
		{Half: "embedded", Protocol: "HTTP/2", Test: "mixtures", Implementation: "ours", Trials: 1, Faults: 4,
			Took: time.Second},
		{Half: "embedded", Protocol: "HTTP/2", Test: "mixtures", Implementation: "ours", Trials: 1, Faults: 3,
			Took: 2 * time.Second},
		{Half: "embedded", Protocol: "HTTP/2", Test: "mixtures", Implementation: "client-go", Trials: 2,
			Verdicts: map[results.Verdict]int{results.Late: 1}},
		{Half: "embedded", Protocol: "HTTP/2", Test: "each", Fault: "black-hole", Implementation: "client-go",
			Trials: 1, Verdicts: map[results.Verdict]int{results.Late: 1}},
		{Half: "embedded", Protocol: "HTTP/2", Test: "each", Fault: "black-hole", Implementation: "ours",
			Trials: 1, Took: 6 * time.Second},
		{Half: "simulated", Test: "random scripts", Implementation: "ours", Trials: 1},
	})
	for _, line := range []string{
		"| embedded | HTTP/2 | mixtures | 2 | 7 | 2.0 |  | 1 of 2 late |",
		"| simulated |  | random scripts | 1 | 0 | right |  |  |",
		"| black-hole | " + fault.ByName("black-hole").About +
			" (SilenceTimeout, InitialEventsTimeout) | 6.0 | 1 of 1 late |",
		"| reset | " + fault.ByName("reset").About + " |  |  |",
		"| older-events | " + fault.ByName("older-events").About + " |  |  |",
		"| lost-event | " + fault.ByName("lost-event").About + ", which nothing shows |  |  |",
	} {
		if !strings.Contains(text, "\n"+line+"\n") {
			t.Errorf("there is no line\n%s\nin\n%s", line, text)
		}
	}
	for _, f := range fault.All() {
		if !strings.Contains(text, "\n| "+f.Name+" | ") {
			t.Errorf("no row for %s", f.Name)
		}
	}
}

// TestSections checks that each section of the page is found, and that none has to be there.
func TestSections(t *testing.T) {
	const faults, load, record = "# Reliability\n\n", soakHeading + "\nMB\n\n", recordHeading + "\n| bug |\n"
	for _, want := range [][3]string{
		{faults, load, record}, {faults, load, ""}, {faults, "", record}, {faults, "", ""},
	} {
		var got [3]string
		if got[0], got[1], got[2] = sections(want[0] + want[1] + want[2]); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
