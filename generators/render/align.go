package render

import (
	"bytes"
	"unicode/utf8"
)

// squeeze appends body to out, with runs of blank lines made one and none at
// the end, and none between out and body if out ends in one already.
func squeeze(out, body []byte) []byte {
	blank := bytes.HasSuffix(out, []byte("\n\n"))
	pending := false
	for line := range bytes.Lines(body) {
		if len(bytes.TrimSpace(line)) == 0 {
			pending = true
			continue
		}
		if pending && !blank {
			out = append(out, '\n')
		}
		pending, blank = false, false
		out = append(out, line...)
	}
	return append(bytes.TrimRight(out, "\n"), '\n')
}

// align pads each run of adjacent lines that hold a column mark, so that what
// follows the mark starts in the same column, one space after the longest.
func align(text []byte) []byte {
	if bytes.IndexByte(text, markColumn) < 0 {
		return text
	}
	out := make([]byte, 0, len(text)+len(text)/8)
	var run [][]byte
	for line := range bytes.Lines(text) {
		if bytes.IndexByte(line, markColumn) >= 0 {
			run = append(run, line)
			continue
		}
		out = append(appendRun(out, run), line...)
		run = run[:0]
	}
	return appendRun(out, run)
}

func appendRun(out []byte, run [][]byte) []byte {
	width := 0
	for _, line := range run {
		width = max(width, utf8.RuneCount(line[:bytes.IndexByte(line, markColumn)]))
	}
	for _, line := range run {
		at := bytes.IndexByte(line, markColumn)
		out = append(out, line[:at]...)
		for range width - utf8.RuneCount(line[:at]) + 1 {
			out = append(out, ' ')
		}
		out = append(out, line[at+1:]...)
	}
	return out
}
