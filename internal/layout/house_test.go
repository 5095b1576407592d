package layout

import (
	"bytes"
	"go/ast"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The limits for the size of the runtime's public API, and of package informer's, which is most of what users
// see. Another name must replace one, or justify a higher limit.
const (
	maxExported         = 215
	maxExportedInformer = 49
)

// TestExported counts the exported top-level names under runtime/, without those of the two facades, which
// are client-go's, and of internal packages.
func TestExported(t *testing.T) {
	total := 0
	err := filepath.WalkDir(filepath.Join("..", "..", "runtime"),
		func(dir string, d fs.DirEntry, err error) error {
			if err != nil || !d.IsDir() {
				return err
			}
			if base := d.Name(); base == "internal" || base == "cache" || base == "workqueue" {
				return filepath.SkipDir
			}
			n := exported(t, dir)
			if total += n; filepath.Base(dir) == "informer" && n > maxExportedInformer {
				t.Errorf("%s exports %d names, at most %d are meant to be", dir, n, maxExportedInformer)
			}
			return nil
		})
	if err != nil {
		t.Fatal(err)
	}
	if total > maxExported {
		t.Errorf("the runtime exports %d names, at most %d are meant to be", total, maxExported)
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
	read := 0
	root := filepath.Join("..", "..")
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
		if n := bytes.Count(text, []byte("\n")); n > maxLines &&
			!bytes.Contains(text, []byte("Code generated ")) {
			t.Errorf("%s has %d lines, at most %d are meant to be: is there a second thing in it?",
				name, n, maxLines)
		}
		inDecode := strings.HasPrefix(filepath.ToSlash(name), "../../runtime/internal/decode/")
		if !inDecode && !strings.HasSuffix(name, "_test.go") &&
			bytes.Contains(text, []byte("\t\"unsafe\"\n")) {
			t.Errorf("%s imports unsafe", name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if read < 300 {
		t.Errorf("only %d files were read", read)
	}
}
