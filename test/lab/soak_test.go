package main

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kubewright/kubewright/test/lab/results"
)

func someSoaks() []results.Soak {
	soak := results.Soak{
		Server: "in memory", Objects: 50_000, Handlers: 20, Writers: 1, Changes: 2_400_000, Took: 20 * time.Minute,
		Lag50: time.Millisecond, Lag99: 12 * time.Millisecond, Slowest99: 13500 * time.Microsecond,
		Before: results.Sample{Live: 4e6, Goroutines: 3, Descriptors: 13},
		Synced: results.Sample{Live: 104e6}, After: results.Sample{Goroutines: 3, Descriptors: 13},
		Machine: "2 cores",
	}
	for i := range 20 {
		soak.Samples = append(soak.Samples, results.Sample{
			At: time.Duration(i+1) * time.Minute, Heap: 250e6, Live: 204e6, Goroutines: 9, Descriptors: 14,
			Backlog: 54_321, Lag50: time.Millisecond, Lag99: 12 * time.Millisecond, Load: 2.5,
		})
	}
	other := soak
	other.Server, other.Writers, other.Objects = "embedded", 8, 1000
	return []results.Soak{soak, other}
}

// TestSoakSection makes a section of two soaks, and their charts.
func TestSoakSection(t *testing.T) {
	text := soakSection(someSoaks())
	for _, want := range []string{
		soakHeading, "for 20 minutes", "8 writers keep", "| | in memory | embedded | bound |\n|---|--:|--:|---|\n",
		"| objects | 50,000 | 1,000 |  |\n", "| changes a second | 2,000 | 2,000 |  |\n",
		"| 99th percentile of the slowest handler | 13.5 ms | 13.5 ms | 1 s |\n",
		"| goroutines before, at most, after | 3, 9, 3 | 3, 9, 3 |  |\n",
		"with 2 cores, where 2.5 threads wanted a core",
		"](reliability/in-memory.svg)", "](reliability/embedded.svg)",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("there is no\n%s\nin\n%s", want, text)
		}
	}
	docs := t.TempDir()
	if err := drawSoaks(docs, someSoaks()); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"in-memory.svg", "embedded.svg"} {
		file, err := os.Open(filepath.Join(docs, "reliability", name))
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		var shown strings.Builder
		for d := xml.NewDecoder(file); ; {
			token, err := d.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if text, ok := token.(xml.CharData); ok {
				shown.Write(text)
			}
		}
		for _, p := range panels(someSoaks()[0]) {
			for _, want := range []string{p.caption, p.lower.name, p.upper.name} {
				if !strings.Contains(shown.String(), want) {
					t.Errorf("%s doesn't show %q", name, want)
				}
			}
		}
	}
}
