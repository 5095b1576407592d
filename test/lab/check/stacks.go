package check

import (
	"regexp"
	"runtime"
	"strings"
)

// bubbleNumber matches the number of a goroutine's bubble in its first line.
var bubbleNumber = regexp.MustCompile(`synctest bubble (\d+)`)

// bubbleStacks returns the stacks of the other goroutines of the caller's bubble, except those that run the
// bubble's test.
func bubbleStacks() string {
	own := bubbleNumber.FindString(stacks(false))
	if own == "" {
		return ""
	}
	var others []string
	for _, stack := range strings.Split(stacks(true), "\n\n")[1:] {
		head, _, _ := strings.Cut(stack, "\n")
		runner := strings.Contains(head, "synctest.Run") || strings.Contains(stack, "testingSynctestTest")
		if bubbleNumber.FindString(head) == own && !runner {
			others = append(others, stack)
		}
	}
	return strings.Join(others, "\n\n")
}

// stacks returns the stack of the caller, or those of all goroutines with the caller's first.
func stacks(all bool) string {
	text := make([]byte, 1<<16)
	for {
		if n := runtime.Stack(text, all); n < len(text) {
			return string(text[:n])
		}
		text = make([]byte, 2*len(text))
	}
}
