package marker

import (
	"fmt"
	"go/token"
	"slices"
	"strings"
)

// Problem is one thing that is wrong (or suspicious) with the input, and where.
type Problem struct {
	// Pos is the place in the source; its zero value means no place.
	Pos token.Position
	// Message says what is wrong and what to do about it.
	Message string
	// Warning problems are reported but fail nothing.
	Warning bool
}

func (p Problem) String() string {
	kind := ""
	if p.Warning {
		kind = "warning: "
	}
	if !p.Pos.IsValid() {
		if p.Pos.Filename != "" {
			return p.Pos.Filename + ": " + kind + p.Message
		}
		return kind + p.Message
	}
	return fmt.Sprintf("%s:%d:%d: %s%s", p.Pos.Filename, p.Pos.Line, p.Pos.Column, kind, p.Message)
}

// Problems is a sorted set of problems and an error.
type Problems []Problem

// Error gives one problem a line.
func (ps Problems) Error() string {
	lines := make([]string, len(ps))
	for i, p := range ps {
		lines[i] = p.String()
	}
	return strings.Join(lines, "\n")
}

// Fatal reports whether any of the problems is more than a warning.
func (ps Problems) Fatal() bool {
	return slices.ContainsFunc(ps, func(p Problem) bool { return !p.Warning })
}

// Sort orders by file, line, column and message, and drops what repeats;
// of an error and a warning that say the same the error stays.
func (ps Problems) Sort() Problems {
	slices.SortFunc(ps, func(a, b Problem) int {
		if c := strings.Compare(a.Pos.Filename, b.Pos.Filename); c != 0 {
			return c
		}
		if c := a.Pos.Line - b.Pos.Line; c != 0 {
			return c
		}
		if c := a.Pos.Column - b.Pos.Column; c != 0 {
			return c
		}
		if c := strings.Compare(a.Message, b.Message); c != 0 || a.Warning == b.Warning {
			return c
		}
		if b.Warning {
			return -1
		}
		return 1
	})
	return slices.CompactFunc(ps, func(a, b Problem) bool { return a.Pos == b.Pos && a.Message == b.Message })
}
