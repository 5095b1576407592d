package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// result is what one part measured.
type result struct {
	Part        string
	Environment environment
	Started     time.Time
	Took        time.Duration
	Rows        []*row
}

// save writes the result to a file of the part's name in dir.
func (r result) save(dir string) error {
	text, err := json.MarshalIndent(r, "", "\t")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, r.Part+".json"), text, 0o644)
}

// loadAll reads the saved results of the parts. They have to be of one commit and one machine.
func loadAll(dir string, parts []part) (results []result, err error) {
	for _, p := range parts {
		text, err := os.ReadFile(filepath.Join(dir, p.name+".json"))
		if err != nil {
			return nil, fmt.Errorf("part %s: %w", p.name, err)
		}
		var r result
		if err := json.Unmarshal(text, &r); err != nil {
			return nil, fmt.Errorf("part %s: %w", p.name, err)
		}
		if results = append(results, r); r.Environment != results[0].Environment {
			return nil, fmt.Errorf("part %s was measured with %v, part %s with %v",
				results[0].Part, results[0].Environment, p.name, r.Environment)
		}
	}
	return results, nil
}
