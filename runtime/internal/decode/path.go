package decode

import (
	"strconv"
	"strings"
)

const (
	// longestStep is the length of the longest name in a path, longestPath about that of the longest path.
	// Names in maps come from the server: their length isn't limited, and they may contain any bytes.
	longestStep = 64
	longestPath = 1 << 10

	plainLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"
)

// in records a step of the path to an error. It returns false.
func (s *scanner) in(step string) bool {
	if s.err != errMore {
		s.path = append(s.path, step)
	}
	return false
}

// inEntry records a step by the name of an entry of a map. It returns false.
func (s *scanner) inEntry(name string) bool {
	return s.in("[" + strconv.Quote(cutName(name)) + "]")
}

// cutName cuts off a name that is too long for a path.
func cutName(name string) string {
	if len(name) > longestStep {
		return name[:longestStep] + "..."
	}
	return name
}

// inMember is inEntry for an untyped map, whose names are usually those of fields.
func (s *scanner) inMember(name string) bool {
	if name == "" || len(name) > longestStep || strings.Trim(name, plainLetters) != "" {
		return s.inEntry(name)
	}
	return s.in("." + name)
}

// location returns the path to the error.
func (s *scanner) location() string {
	var b strings.Builder
	for i := len(s.path) - 1; i >= 0; i-- {
		if b.Len() > longestPath {
			b.WriteString("...")
			break
		}
		b.WriteString(s.path[i])
	}
	return strings.TrimPrefix(b.String(), ".")
}
