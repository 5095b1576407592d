package layout

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kubewright/kubewright/internal/pages"
)

// languages are those of blocks in Markdown pages. Go and shell are compiled and run; diff and text are only
// shown.
var languages = []string{"go", "sh", "diff", "text"}

// TestBlocks checks that each block of a page has a language, so that something tests it. Every piece of Go
// must be in a Go file of the repository, where it is compiled. A line of three dots separates pieces that
// aren't adjacent there. Spaces and comments may differ. The Go of docs/first-api.md is written to files by a
// test in generators/crdtest, which runs it.
func TestBlocks(t *testing.T) {
	code := goFiles(t)
	found := 0
	for _, p := range tracked(t) {
		for _, b := range p.Blocks() {
			if !slices.Contains(languages, b.Language) {
				t.Errorf("%s:%d: a block of %q, want a fence and one of %q", p.Name, b.Line, b.Language, languages)
			}
			if b.Language != "go" || p.Name == "docs/first-api.md" {
				continue
			}
			for _, piece := range goPieces(b.Text) {
				found++
				if !anyContains(code, piece) {
					t.Errorf("%s:%d: no Go file of the repository has this:\n%s", p.Name, b.Line, piece)
				}
			}
		}
	}
	if found < 8 {
		t.Errorf("%d pieces of Go in pages, want at least 8: are they still found?", found)
	}
}

func tracked(t *testing.T) []pages.Page {
	t.Helper()
	all, err := pages.Tracked("../..")
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// goPieces returns the pieces of a block of Go, in the form of plainLines. A package clause and directives
// alone aren't a piece: a test in generators/crdtest runs those for go generate.
func goPieces(block string) (pieces []string) {
	var piece strings.Builder
	end := func() {
		if piece.Len() > 0 {
			pieces = append(pieces, piece.String())
			piece.Reset()
		}
	}
	for line := range strings.Lines(block) {
		if line = strings.TrimSpace(line); line == "..." {
			end()
		} else if !strings.HasPrefix(line, "//go:") && !strings.HasPrefix(line, "package ") {
			piece.WriteString(plainLines(line))
		}
	}
	end()
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

// goFiles returns the lines of all Go files that git tracks, each file in the form of plainLines.
func goFiles(t *testing.T) (files []string) {
	for _, text := range trackedGo(t) {
		files = append(files, plainLines(text)+"\n")
	}
	return files
}

// trackedGo returns the texts of the Go files that git tracks, by name.
func trackedGo(t *testing.T) map[string]string {
	t.Helper()
	command := exec.Command("git", "ls-files", "-z", "*.go")
	command.Dir = "../.."
	names, err := command.Output()
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{}
	for name := range strings.SplitSeq(strings.TrimSuffix(string(names), "\x00"), "\x00") {
		text, err := os.ReadFile(filepath.Join("../..", name))
		if err != nil {
			t.Fatal(err)
		}
		texts[name] = string(text)
	}
	return texts
}

func anyContains(texts []string, piece string) bool {
	for _, text := range texts {
		if strings.Contains(text, piece+"\n") {
			return true
		}
	}
	return false
}
