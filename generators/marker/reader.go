package marker

import (
	"fmt"
	"go/token"
)

// reader collects the problems of one reading.
type reader struct {
	strict   bool
	problems Problems
}

// fail reports what upstream refuses, or what makes it write code that
// doesn't compile.
func (p *reader) fail(pos token.Position, format string, args ...any) {
	p.report(false, pos, format, args...)
}

// lax reports what upstream takes and compiles although it means nothing.
func (p *reader) lax(pos token.Position, format string, args ...any) {
	p.report(!p.strict, pos, format, args...)
}

// warn reports what fails for nobody.
func (p *reader) warn(pos token.Position, format string, args ...any) {
	p.report(true, pos, format, args...)
}

func (p *reader) report(warning bool, pos token.Position, format string, args ...any) {
	p.problems = append(p.problems, Problem{Pos: pos, Message: fmt.Sprintf(format, args...), Warning: warning})
}
