package main

import (
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/kubewright/kubewright/generators"
)

// report is what --json prints.
type report struct {
	Command string `json:"command"`
	// Files are all files of the run and those that it removes, sorted.
	Files []fileReport `json:"files"`
	// Problems are those of the input.
	Problems []problemReport `json:"problems"`
	// Error is what else went wrong, "" for nothing.
	Error string `json:"error,omitempty"`
	// Seconds say how long each stage took, and all of them.
	Seconds map[string]float64 `json:"seconds"`
}

type fileReport struct {
	Path string `json:"path"`
	// State is "current", "written" or "removed"; check has "outdated" and
	// "stale" for the latter two.
	State string `json:"state"`
}

type problemReport struct {
	File    string `json:"file,omitempty"`
	Line    int    `json:"line,omitempty"`
	Column  int    `json:"column,omitempty"`
	Message string `json:"message"`
	Warning bool   `json:"warning,omitempty"`
}

// states are what files are called, by command.
var states = map[string]map[generators.FileState]string{
	"generate": {generators.Current: "current", generators.Changed: "written", generators.Stale: "removed"},
	"check":    {generators.Current: "current", generators.Changed: "outdated", generators.Stale: "stale"},
}

func newReport(command string, plan *generators.Changes, problems generators.Problems, err error, clock *stopwatch) report {
	r := report{Command: command, Files: []fileReport{}, Problems: []problemReport{}, Seconds: clock.seconds()}
	if plan != nil {
		for _, f := range plan.Files() {
			r.Files = append(r.Files, fileReport{f.Path, states[command][f.State]})
		}
	}
	for _, p := range problems {
		r.Problems = append(r.Problems, problemReport{p.Pos.Filename, p.Pos.Line, p.Pos.Column, p.Message, p.Warning})
	}
	if err != nil {
		r.Error = err.Error()
	}
	return r
}

func (r report) write(w io.Writer) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(r)
}

// stopwatch measures the stages of a run, and shows the current one to whoever
// watches a terminal.
type stopwatch struct {
	begin, last time.Time
	stage       string
	took        map[string]time.Duration
	// terminal is nil when nobody watches.
	terminal io.Writer
}

func newStopwatch(terminal io.Writer) *stopwatch {
	now := time.Now()
	return &stopwatch{begin: now, last: now, took: map[string]time.Duration{}, terminal: terminal}
}

// clearLine goes back to the begin of a terminal's line and clears it.
const clearLine = "\r\x1b[K"

// start ends the stage before and starts another, "" for none.
func (s *stopwatch) start(stage string) {
	now := time.Now()
	if s.stage != "" {
		s.took[s.stage] += now.Sub(s.last)
	}
	s.stage, s.last = stage, now
	if s.terminal == nil {
		return
	}
	fmt.Fprint(s.terminal, clearLine)
	if stage != "" {
		fmt.Fprintf(s.terminal, "%s ...", stage)
	}
}

func (s *stopwatch) seconds() map[string]float64 {
	seconds := map[string]float64{"total": time.Since(s.begin).Seconds()}
	for stage, took := range s.took {
		seconds[stage] = took.Seconds()
	}
	return seconds
}
