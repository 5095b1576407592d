package output

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func TestDiff(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	put(t, dir, map[string]string{
		"out/a.go": "1\n2\n3\n", "out/b.go": "1\r\n2\r\n", "out/c.go": "1\r\n2\n3\r\n", "out/d.go": "1\n2",
		"out/stale.go": header + "\n" + Record{}.String() + "\npackage out\n",
	})
	s := set(".", map[string]string{
		"out/a.go": "1\n2\nthree\n", "out/b.go": "1\n2\n", "out/c.go": "1\n3\n", "out/d.go": "1\n2\n",
		"out/new.go": "x\n",
	})
	p, err := s.Compare()
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := p.WriteDiff(&b, false); err != nil {
		t.Fatal(err)
	}
	const want = `--- out/a.go
+++ out/a.go
@@ -1,3 +1,3 @@
 1
 2
-3
+three
out/b.go differs in its line ends only: it has CRLF, not LF
out/c.go has line ends CRLF, not LF; and it differs:
--- out/c.go
+++ out/c.go
@@ -1,3 +1,2 @@
 1
-2
 3
--- out/d.go
+++ out/d.go
@@ -1,2 +1,2 @@
 1
-2
\ No newline at end of file
+2
--- /dev/null
+++ out/new.go
@@ -0,0 +1 @@
+x
out/stale.go is stale: it is not generated from these packages
`
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
	if p.Current() {
		t.Error("the plan calls itself current")
	}
	if want := []string{"out/b.go"}; !slices.Equal(p.LineEnds, want) {
		t.Errorf("line ends alone: %v", p.LineEnds)
	}

	var coloured strings.Builder
	if err := p.WriteDiff(&coloured, true); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		"\x1b[1m--- out/a.go\x1b[m\n", "\x1b[36m@@ -1,3 +1,3 @@\x1b[m\n", "\n 1\n", "\x1b[31m-3\x1b[m\n",
		"\x1b[32m+three\x1b[m\n", "\x1b[31m-2\x1b[m\n\\ No newline",
	} {
		if !strings.Contains(coloured.String(), line) {
			t.Errorf("no %q in\n%q", line, coloured.String())
		}
	}
}

// TestDiffApplies checks with random texts that a diff turns the old one into the new one.
func TestDiffApplies(t *testing.T) {
	for seed := range uint64(2000) {
		random := rand.New(rand.NewPCG(seed, 0))
		text := func() string {
			var b strings.Builder
			for range random.IntN(30) {
				fmt.Fprintf(&b, "%d\n", random.IntN(4))
			}
			if random.IntN(4) == 0 {
				return strings.TrimSuffix(b.String(), "\n")
			}
			return b.String()
		}
		from, to := text(), text()
		var diff strings.Builder
		d := differ{bufio.NewWriter(&diff), false}
		d.file("a", "b", []byte(from), []byte(to))
		if err := d.Flush(); err != nil {
			t.Fatal(err)
		}
		got, err := patch(from, diff.String())
		if err != nil || got != to {
			t.Fatalf("seed %d: the diff from %q to %q gives %q, %v:\n%s", seed, from, to, got, err, &diff)
		}
	}
}

// patch applies a unified diff of one file.
func patch(text, diff string) (string, error) {
	old, done := strings.SplitAfter(text, "\n"), 0
	var patched strings.Builder
	minus, plus := 0, 0 // lines that the headers of hunks announce and that haven't come yet
	lines := strings.SplitAfter(diff, "\n")[2:]
	for i, line := range lines {
		if i+1 < len(lines) && strings.HasPrefix(lines[i+1], "\\") {
			line = strings.TrimSuffix(line, "\n")
		}
		switch {
		case line == "" || line[0] == '\\':
		case line[0] == '@':
			ranges := strings.Fields(line)
			start, n := parseSpan(ranges[1])
			if n > 0 {
				start--
			}
			minus += n
			_, n = parseSpan(ranges[2])
			plus += n
			for ; done < start; done++ {
				patched.WriteString(old[done])
			}
		default:
			if line[0] != '+' {
				if old[done] != line[1:] {
					return "", fmt.Errorf("%q is removed or kept where there is %q", line[1:], old[done])
				}
				done++
				minus--
			}
			if line[0] != '-' {
				patched.WriteString(line[1:])
				plus--
			}
		}
	}
	if minus != 0 || plus != 0 {
		return "", fmt.Errorf("the headers of hunks have %d and %d lines too many", minus, plus)
	}
	return patched.String() + strings.Join(old[done:], ""), nil
}

// parseSpan parses a range of a hunk's header, such as -3,2.
func parseSpan(text string) (start, n int) {
	if parsed, _ := fmt.Sscanf(text[1:], "%d,%d", &start, &n); parsed < 2 {
		n = 1
	}
	return start, n
}
