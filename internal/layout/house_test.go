package layout

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// The limits for the size of the API for people: that of the runtime, and that of package informer, which
// users see most. A new name must replace another, or justify a higher limit. The last one that did is
// queue.Step: the steps of an item, which eyes show.
const (
	maxExported         = 96
	maxExportedInformer = 37
)

// TestExported counts the exported top-level names under runtime/ that are for people: except those of
// internal packages, of the packages for generated code, of sharding, and of the two facades, whose names are
// client-go's.
func TestExported(t *testing.T) {
	total := 0
	err := filepath.WalkDir(filepath.Join("..", "..", "runtime"),
		func(dir string, d fs.DirEntry, err error) error {
			if err != nil || !d.IsDir() {
				return err
			}
			switch d.Name() {
			case "internal", "gen", "shard", "cache", "workqueue":
				return filepath.SkipDir
			}
			n := exported(t, dir)
			if total += n; filepath.Base(dir) == "informer" && n > maxExportedInformer {
				t.Errorf("%s exports %d names, want at most %d", dir, n, maxExportedInformer)
			}
			return nil
		})
	if err != nil {
		t.Fatal(err)
	}
	if total > maxExported {
		t.Errorf("the runtime exports %d names, want at most %d", total, maxExported)
	}
	if total < maxExportedInformer {
		t.Errorf("only %d names were found", total)
	}
}

func exported(t *testing.T, dir string) (n int) {
	for name := range declared(t, dir).top {
		if ast.IsExported(name) {
			n++
		}
	}
	return n
}

// maxLines is the greatest length of a hand-written file.
const maxLines = 500

// TestFiles checks that hand-written files have at most 500 lines, and that only package decode imports
// unsafe, under the conditions that its unsafe.go states.
func TestFiles(t *testing.T) {
	eachGoFile(t, func(name string, text []byte) {
		if n := bytes.Count(text, []byte("\n")); n > maxLines &&
			!bytes.Contains(text, []byte("Code generated ")) {
			t.Errorf("%s has %d lines, want at most %d: does it hold more than one thing?",
				name, n, maxLines)
		}
		inDecode := strings.HasPrefix(name, "../../runtime/internal/decode/")
		if !inDecode && !strings.HasSuffix(name, "_test.go") &&
			bytes.Contains(text, []byte("\t\"unsafe\"\n")) {
			t.Errorf("%s imports unsafe", name)
		}
	})
}

// maxColumns is the greatest length of a line of a hand-written file, in characters. A tab counts as one.
const maxColumns = 110

// TestColumns checks the lengths of lines. Only markers and lines that end inside a raw string may be longer,
// because they can't be broken.
func TestColumns(t *testing.T) {
	eachGoFile(t, func(name string, text []byte) {
		columns := map[int]int{}
		for i, line := range strings.Split(string(text), "\n") {
			isMarker := strings.HasPrefix(strings.TrimSpace(line), "// +")
			if n := utf8.RuneCountInString(line); n > maxColumns && !isMarker {
				columns[i+1] = n
			}
		}
		if len(columns) == 0 {
			return
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, name, text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		if ast.IsGenerated(file) {
			return
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if literal, ok := n.(*ast.BasicLit); ok {
				first, last := files.Position(literal.Pos()).Line, files.Position(literal.End()).Line
				maps.DeleteFunc(columns, func(line, _ int) bool { return first <= line && line < last })
			}
			return true
		})
		for _, line := range slices.Sorted(maps.Keys(columns)) {
			t.Errorf("%s:%d: the line has %d columns, want at most %d: break it",
				name, line, columns[line], maxColumns)
		}
	})
}

// eachGoFile calls visit with the path, in slashes, and the text of each Go file of the repository, except in
// testdata.
func eachGoFile(t *testing.T, visit func(name string, text []byte)) {
	t.Helper()
	const root = "../.."
	read := 0
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if base := entry.Name(); entry.IsDir() &&
			(base == "testdata" || strings.HasPrefix(base, ".") && name != root) {
			return filepath.SkipDir
		}
		if entry.IsDir() || !strings.HasSuffix(name, ".go") {
			return nil
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		read++
		visit(filepath.ToSlash(name), text)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if read < 300 {
		t.Errorf("only %d files were read", read)
	}
}
