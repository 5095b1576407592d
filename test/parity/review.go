package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
)

// review has the reviewed messages of kubewright generate, by row of the corpus. Its file has a line for
// each: the row, the message and the judgement, separated by tabs.
type review struct {
	file  string
	lines []reviewLine
	// record replaces the messages of each checked row, and keeps the judgements of messages that remain.
	record bool
}

type reviewLine struct{ row, message, judgement string }

func readReview(file string) (*review, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	r := &review{file: file}
	for line := range strings.Lines(string(text)) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(fields) != 3 {
			return nil, fmt.Errorf("%s: %d fields in %q", file, len(fields), line)
		}
		r.lines = append(r.lines, reviewLine{fields[0], fields[1], fields[2]})
	}
	return r, nil
}

// check compares the messages of a row with the list. Each listed message must have a judgement.
func (r *review) check(row string, messages []string) error {
	var listed, rest []reviewLine
	for _, line := range r.lines {
		if line.row == row {
			listed = append(listed, line)
		} else {
			rest = append(rest, line)
		}
	}
	if r.record {
		for _, message := range messages {
			line := reviewLine{row, message, ""}
			i := slices.IndexFunc(listed, func(l reviewLine) bool { return l.message == message })
			if i >= 0 {
				line = listed[i]
			}
			rest = append(rest, line)
		}
		r.lines = rest
		return r.write()
	}
	var found []error
	for _, line := range listed {
		if !slices.Contains(messages, line.message) {
			found = append(found, fmt.Errorf("kubewright no longer prints %s", line.message))
		} else if line.judgement == "" {
			found = append(found, fmt.Errorf("nobody has judged %s", line.message))
		}
	}
	for _, message := range messages {
		if !slices.ContainsFunc(listed, func(l reviewLine) bool { return l.message == message }) {
			found = append(found, fmt.Errorf("new: %s", message))
		}
	}
	return errors.Join(found...)
}

// write writes the file, in the order of rows and messages.
func (r *review) write() error {
	slices.SortFunc(r.lines, func(a, b reviewLine) int {
		return strings.Compare(a.row+"\t"+a.message, b.row+"\t"+b.message)
	})
	var text strings.Builder
	for _, line := range r.lines {
		fmt.Fprintf(&text, "%s\t%s\t%s\n", line.row, line.message, line.judgement)
	}
	return os.WriteFile(r.file, []byte(text.String()), 0o644)
}
