package marker

import (
	"fmt"
	"go/token"
	"slices"
	"strings"
)

// Problem is an error or a warning about the input.
type Problem struct {
	// Pos is the position in the source. It may have a file name only, and is
	// zero for problems that belong to no file.
	Pos token.Position
	// Message says what is wrong and how to fix it.
	Message string
	// Warning is true for a problem that doesn't fail the run.
	Warning bool
}

// String formats the problem as file:line:col: message, without the parts of the
// position that aren't known.
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

// Problems are the problems of a run. They are an error as a whole; see [Problems.Fatal].
type Problems []Problem

// Error formats the problems, one a line.
func (ps Problems) Error() string {
	lines := make([]string, len(ps))
	for i, p := range ps {
		lines[i] = p.String()
	}
	return strings.Join(lines, "\n")
}

// Fatal reports whether one of the problems is not just a warning.
func (ps Problems) Fatal() bool {
	return slices.ContainsFunc(ps, func(p Problem) bool { return !p.Warning })
}

// Sort sorts by file, line, column and message, in place, and drops duplicates: a
// type with several generators reports some problems once for each. Of an error and
// a warning with the same text it keeps the error.
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

// Reporter collects problems. The compatible binaries have to accept what code-generator
// accepts; so there is one method for input that it refuses, and one for input that it
// accepts.
type Reporter struct {
	// Strict is true for the command kubewright and false for the compatible
	// binaries.
	Strict   bool
	Problems Problems
}

// Errorf reports input that code-generator refuses as well, or from which it
// generates code that doesn't compile.
func (r *Reporter) Errorf(pos token.Position, format string, args ...any) {
	r.Report(false, pos, format, args...)
}

// StrictErrorf reports input that code-generator accepts, with a result that
// compiles, although the input has no meaning. It is a warning unless Strict.
func (r *Reporter) StrictErrorf(pos token.Position, format string, args ...any) {
	r.Report(!r.Strict, pos, format, args...)
}

// Warnf reports input that is suspicious and may still be right.
func (r *Reporter) Warnf(pos token.Position, format string, args ...any) {
	r.Report(true, pos, format, args...)
}

// Report reports an error or a warning.
func (r *Reporter) Report(warning bool, pos token.Position, format string, args ...any) {
	r.Problems = append(r.Problems, Problem{Pos: pos, Message: fmt.Sprintf(format, args...),
		Warning: warning})
}
