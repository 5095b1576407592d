// Package results is what the tests of the lab tell the command that writes docs/reliability.md.
package results

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

// Result is what became of one implementation in one trial, or in many that are alike.
type Result struct {
	// Half is where it was: "simulated", or the name of a real server.
	Half     string
	Protocol string `json:",omitempty"`
	// Test names what was done, Fault and Kind the fault of a trial of one, and the kind of request that it
	// happened to.
	Test           string
	Fault          string `json:",omitempty"`
	Kind           string `json:",omitempty"`
	Implementation string
	// Trials is how many there were, Faults how many faults happened in them.
	Trials, Faults int
	// Took is the longest time from the end of the faults until all was right.
	Took time.Duration
	// Verdicts counts the trials that weren't all right by what was wrong: Late, Broken, Left.
	Verdicts map[Verdict]int `json:",omitempty"`
}

// Verdict is what may be wrong.
type Verdict string

// The verdicts.
const (
	Late   Verdict = "late"   // it didn't have what the server had within the bound
	Broken Verdict = "broken" // it broke a law
	Left   Verdict = "left"   // it left something behind
)

var mu sync.Mutex

// Append writes a result to the end of a file. An empty name means no file. It is safe for concurrent use.
func Append(name string, r Result) error {
	if name == "" {
		return nil
	}
	line, err := json.Marshal(r)
	if err != nil {
		return err
	}
	mu.Lock()
	defer mu.Unlock()
	file, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = file.Write(append(line, '\n'))
	return errors.Join(err, file.Close())
}

// Read returns the results of a file.
func Read(name string) (all []Result, err error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	for decoder := json.NewDecoder(file); ; {
		var r Result
		if err := decoder.Decode(&r); err == io.EOF {
			return all, nil
		} else if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		all = append(all, r)
	}
}
