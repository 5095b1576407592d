package layout

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestBlocksAreCompiled: what docs show as Go stands in a Go file of the repository, where it is compiled. A line of three
// dots separates pieces that stand apart. Spaces and comments may differ. README's blocks are run by a test of their own.
func TestBlocksAreCompiled(t *testing.T) {
	code := goFiles(t)
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, piece := range goPieces(string(text)) {
			found++
			if !anyContains(code, piece) {
				t.Errorf("%s: no Go file of the repository has this:\n%s", page, piece)
			}
		}
	}
	if found < 8 {
		t.Errorf("%d pieces of Go in docs, want at least 8: are they still found?", found)
	}
}

// goPieces returns the pieces of the blocks of Go in a page, as plainLines has them.
func goPieces(page string) (pieces []string) {
	inside := false
	var piece strings.Builder
	end := func() {
		if piece.Len() > 0 {
			pieces = append(pieces, piece.String())
			piece.Reset()
		}
	}
	for line := range strings.Lines(page) {
		switch line = strings.TrimSpace(line); {
		case line == "```go":
			inside = true
		case line == "```":
			inside = false
			end()
		case line == "...":
			end()
		case inside:
			piece.WriteString(plainLines(line))
		}
	}
	return pieces
}

// plainLines returns lines of Go without comments, indentation and blank lines, each after a newline.
func plainLines(text string) string {
	var plain strings.Builder
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, "// ")
		if fields := strings.Fields(line); len(fields) > 0 {
			plain.WriteString("\n" + strings.Join(fields, " "))
		}
	}
	return plain.String()
}

// goFiles returns the lines of all Go files that git tracks, each file as plainLines has it.
func goFiles(t *testing.T) (files []string) {
	command := exec.Command("git", "ls-files", "-z", "*.go")
	command.Dir = "../.."
	names, err := command.Output()
	if err != nil {
		t.Fatal(err)
	}
	for name := range strings.SplitSeq(strings.TrimSuffix(string(names), "\x00"), "\x00") {
		text, err := os.ReadFile(filepath.Join("../..", name))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, plainLines(string(text))+"\n")
	}
	return files
}

func anyContains(texts []string, piece string) bool {
	for _, text := range texts {
		if strings.Contains(text, piece+"\n") {
			return true
		}
	}
	return false
}
