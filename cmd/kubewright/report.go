package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/kubewright/kubewright/generators"
)

// report is the output of --json.
type report struct {
	Command string `json:"command"`
	// Files are all files of the run, including those that it removes, sorted by path.
	Files []fileReport `json:"files"`
	// Problems are the problems of the input.
	Problems []problemReport `json:"problems"`
	// Error is any other error, "" for none.
	Error string `json:"error,omitempty"`
	// Seconds are the durations of the stages, and "total".
	Seconds map[string]float64 `json:"seconds"`
}

type fileReport struct {
	Path string `json:"path"`
	// State is "current", "written" or "removed", and in a check "current", "outdated" or "stale".
	State string `json:"state"`
	// LineEnds is true if the file differs in its line ends only.
	LineEnds bool `json:"lineEnds,omitempty"`
}

type problemReport struct {
	File    string `json:"file,omitempty"`
	Line    int    `json:"line,omitempty"`
	Column  int    `json:"column,omitempty"`
	Message string `json:"message"`
	Warning bool   `json:"warning,omitempty"`
}

// states are the names of the states of files, by whether a run checks.
var states = map[bool]map[generators.FileState]string{
	false: {generators.Current: "current", generators.Changed: "written", generators.Stale: "removed"},
	true:  {generators.Current: "current", generators.Changed: "outdated", generators.Stale: "stale"},
}

// newReport returns the report of a run that ended with an error, or with nil.
func newReport(of *run, err error) report {
	r := report{Command: of.cmd.Name(), Files: []fileReport{}, Problems: []problemReport{},
		Seconds: of.clock.seconds()}
	for _, plan := range of.plans {
		for _, f := range plan.Files() {
			r.Files = append(r.Files, fileReport{f.Path, states[of.checks][f.State], f.LineEnds})
		}
	}
	slices.SortFunc(r.Files, func(a, b fileReport) int { return strings.Compare(a.Path, b.Path) })
	for _, p := range of.problems {
		r.Problems = append(r.Problems, problemReport{p.Pos.Filename, p.Pos.Line, p.Pos.Column, p.Message,
			p.Warning})
	}
	if err != nil && !errors.Is(err, errReported) {
		r.Error = err.Error()
	}
	return r
}

func (r report) write(w io.Writer) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(r)
}

// stopwatch measures the stages of a run, and shows the current one on a terminal.
type stopwatch struct {
	begin, last time.Time
	stage       string
	took        map[string]time.Duration
	// terminal is nil if the output is not a terminal that can clear a line.
	terminal io.Writer
}

func newStopwatch(terminal io.Writer) *stopwatch {
	now := time.Now()
	return &stopwatch{begin: now, last: now, took: map[string]time.Duration{}, terminal: terminal}
}

// clearLine moves the cursor of a terminal to the start of the line and clears the line.
const clearLine = "\r\x1b[K"

// start ends the current stage and starts another one, "" for none.
func (s *stopwatch) start(stage string) {
	now := time.Now()
	if s.stage != "" {
		s.took[s.stage] += now.Sub(s.last)
		s.show(clearLine)
	}
	s.stage, s.last = stage, now
	if stage != "" {
		s.show(stage + " ...")
	}
}

func (s *stopwatch) show(text string) {
	if s.terminal != nil {
		fmt.Fprint(s.terminal, text)
	}
}

func (s *stopwatch) seconds() map[string]float64 {
	seconds := map[string]float64{"total": time.Since(s.begin).Seconds()}
	for stage, took := range s.took {
		seconds[stage] = took.Seconds()
	}
	return seconds
}
