package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// result is the result of a row.
type result struct {
	text string
	// equal counts the files that are equal, differ are the names of the others, of both tools.
	equal  int
	differ []string
	// failed is true if kubewright reports an error.
	failed bool
}

// compare compares kubewright's files with the answers: a file is equal if it is one of them.
func (r row) compare(ctx context.Context, theirs *answers, diff bool) result {
	var res result
	var b strings.Builder
	ours, problems, err := r.ours(ctx, theirs.dir)
	if err != nil {
		fmt.Fprintf(&b, "  %v\n", err)
		res.failed = true
	}
	b.WriteString(problems)
	names := map[string]bool{}
	for name := range ours {
		names[name] = true
	}
	for _, answer := range theirs.files {
		for name := range answer {
			names[name] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		text, made := ours[name]
		first, line, same := "", 1<<30, false
		for _, answer := range theirs.files {
			wanted, there := answer[name]
			switch {
			case !there && made:
				first = "only kubewright makes it"
			case there && !made:
				first = "only controller-gen makes it"
			case text == wanted:
				same = true
			default: // the answer that is equal for longest
				if d, at := difference(wanted, text, diff); at > line || first == "" {
					first, line = d, at
				}
			}
		}
		if same {
			res.equal++
			continue
		}
		res.differ = append(res.differ, name)
		fmt.Fprintf(&b, "  %s: %s\n", name, first)
	}
	res.text = fmt.Sprintf("%s %d of %d\n%s", r.name, res.equal, r.kinds, b.String())
	return res
}

// difference describes the first lines that differ, or all if whole is true, and returns the first's number.
func difference(theirs, ours string, whole bool) (string, int) {
	a, b := strings.Split(theirs, "\n"), strings.Split(ours, "\n")
	at := 0
	for at < len(a) && at < len(b) && a[at] == b[at] {
		at++
	}
	show := 3
	if whole {
		show = 40
	}
	text := fmt.Sprintf("line %d\n", at+1)
	for _, side := range []struct {
		mark  string
		lines []string
	}{{" ", a[max(0, at-show):at]}, {"-", a[at:min(len(a), at+show)]}, {"+", b[at:min(len(b), at+show)]}} {
		for _, line := range side.lines {
			text += "    " + side.mark + line + "\n"
		}
	}
	return strings.TrimSuffix(text, "\n"), at + 1
}
