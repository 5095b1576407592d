package check

import (
	"regexp"
	"runtime"
	"strings"
)

// bubbleNumber matches the number of a goroutine's bubble in its first line.
var bubbleNumber = regexp.MustCompile(`synctest bubble (\d+)`)

// bubbleStacks returns the stacks of the other goroutines of the caller's bubble, without the one that runs the
// bubble.
func bubbleStacks() string {
	text := make([]byte, 1<<20)
	own := bubbleNumber.FindString(string(text[:runtime.Stack(text, false)]))
	if own == "" {
		return ""
	}
	n := runtime.Stack(text, true)
	stacks := strings.Split(string(text[:n]), "\n\n")
	var others []string
	for _, stack := range stacks[1:] {
		head, _, _ := strings.Cut(stack, "\n")
		if bubbleNumber.FindString(head) == own && !strings.Contains(head, "synctest.Run") {
			others = append(others, stack)
		}
	}
	return strings.Join(others, "\n\n")
}
