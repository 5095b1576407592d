package output

import (
	"fmt"
	"io"

	"github.com/pmezard/go-difflib/difflib"
)

// WriteDiff writes the changes that Apply would make: a unified diff from the disk to the
// generated files, and a line for each stale file.
func (p *Plan) WriteDiff(w io.Writer) error {
	for _, path := range p.Changed {
		from := path
		old, exists := p.old[path]
		if !exists {
			from = "/dev/null"
		}
		if err := diff(w, from, path, old, p.set.Files[path]); err != nil {
			return err
		}
	}
	for _, path := range p.Stale {
		if _, err := fmt.Fprintf(w, "%s is stale: nothing generates it any more\n", path); err != nil {
			return err
		}
	}
	return nil
}

// diff writes the unified diff of a file.
func diff(w io.Writer, from, to string, a, b []byte) error {
	return difflib.WriteUnifiedDiff(w, difflib.UnifiedDiff{
		A: lines(a), FromFile: from,
		B: lines(b), ToFile: to,
		Context: 3,
	})
}

// lines splits text into lines. SplitLines of the library adds an empty line if the text ends
// in a newline.
func lines(text []byte) []string {
	if len(text) == 0 {
		return nil
	}
	split := difflib.SplitLines(string(text))
	if text[len(text)-1] == '\n' {
		return split[:len(split)-1]
	}
	return split
}
