package render

import (
	"bytes"
	"unicode/utf8"
)

// squeeze appends body to out. It reduces runs of blank lines to one, also across the
// border between the two, and drops those at the end.
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

// align pads adjacent lines that have column marks. The text after the first mark starts in
// the same column on all of them, one space after the longest cell. The same goes for
// further marks, among adjacent lines that have them. These are the rules of gofmt's
// tabwriter for fields and their tags.
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

// appendRun appends adjacent lines with their columns padded.
func appendRun(out []byte, run [][]byte) []byte {
	if len(run) == 0 {
		return out
	}
	cells := make([][][]byte, len(run))
	for i, line := range run {
		cells[i] = bytes.Split(line, []byte{markColumn})
	}
	pad(cells, 0)
	for _, line := range cells {
		for _, cell := range line {
			out = append(out, cell...)
		}
	}
	return out
}

// pad pads a column, separately in each run of adjacent lines that continue after it.
func pad(lines [][][]byte, column int) {
	for start := 0; start < len(lines); {
		end, width := start, 0
		for end < len(lines) && len(lines[end]) > column+1 {
			width = max(width, utf8.RuneCount(lines[end][column]))
			end++
		}
		if end == start {
			start++
			continue
		}
		for _, line := range lines[start:end] {
			cell := line[column]
			line[column] = append(cell[:len(cell):len(cell)],
				bytes.Repeat([]byte{' '}, width-utf8.RuneCount(cell)+1)...)
		}
		pad(lines[start:end], column+1)
		start = end
	}
}
