// Package results holds what the tests of the lab report to the command that writes docs/reliability.md.
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

// Result is the result of one implementation in one trial, or in several trials of the same sort.
type Result struct {
	// Half is "simulated", or the name of a real server.
	Half     string
	Protocol string `json:",omitempty"`
	// Test names what was done. Fault and Kind are the fault of a trial with a single fault, and the kind of
	// request that it happened to.
	Test           string
	Fault          string `json:",omitempty"`
	Kind           string `json:",omitempty"`
	Implementation string
	// Trials is the number of trials, Faults that of the faults in them.
	Trials, Faults int
	// Took is the longest time from the end of the faults until everything was right.
	Took time.Duration
	// Verdicts counts the trials that failed, by what was wrong.
	Verdicts map[Verdict]int `json:",omitempty"`
}

// Verdict is what was wrong in a trial.
type Verdict string

// The verdicts.
const (
	Late   Verdict = "late"   // it took longer than the bound until it had what the server had
	Broken Verdict = "broken" // it broke a law
	Left   Verdict = "left"   // it left something behind
)

var mu sync.Mutex

// Append writes a [Result] or a [Soak] to the end of a file. An empty name means no file. It is safe for
// concurrent use.
func Append[R Result | Soak](name string, r R) error {
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

// Read returns what was written to a file.
func Read[R Result | Soak](name string) (all []R, err error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	for decoder := json.NewDecoder(file); ; {
		var r R
		if err := decoder.Decode(&r); err == io.EOF {
			return all, nil
		} else if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		all = append(all, r)
	}
}
