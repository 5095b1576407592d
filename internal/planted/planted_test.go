package planted

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

const sources = `
-- go.mod --
module example.com/shop

go 1.24
-- shelf/shelf.go --
package shelf

type Shelf[T any] struct{ items []T }

// Add adds.
func (s *Shelf[T]) Add(item T) {
	if s.full() { // the text in a comment is no code: s.full()
		return
	}
	s.items = append(
		s.items,
		item,
	)
}

func (s *Shelf[T]) full() bool { return len(s.items) == 2 }
-- shelf/shelf_test.go --
package shelf

import "testing"

func TestAdd(t *testing.T) {
	var s Shelf[int]
	for i := range 3 {
		s.Add(i)
	}
	if len(s.items) != 2 || s.items[1] != 1 {
		t.Error(s.items)
	}
}
-- till/till.go --
package till

type Till int

func (t Till) full() bool { return t > 1 || t > 1 }

func (t *Till) Add(n int) { *t += Till(n) }

func New() Till { return 0 }
-- till/drawer/drawer.go --
package drawer

func New() int { return 0 }
-- other/go.mod --
module example.com/other
-- other/other.go --
package other

func Other() {}
`

// written returns a folder with the sources.
func written(t *testing.T) string {
	dir := t.TempDir()
	for _, f := range txtar.Parse([]byte(sources)).Files {
		path := filepath.Join(dir, f.Name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, f.Data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestPlanted plants two bugs, of which the tests of the package find one.
func TestPlanted(t *testing.T) {
	dir := written(t)
	t.Chdir(filepath.Join(dir, "shelf"))
	tests := Build(t, dir, map[string]Bug{
		"one too many": In("(*Shelf).full", "len(s.items) == 2", "len(s.items) == 2 && !BUG"),
		"unseen":       In("(*Shelf).Add", "return", "if BUG { println() }; return"),
	})
	if out, err := tests.Run("", "TestAdd"); err != nil {
		t.Errorf("without a bug: %v\n%s", err, out)
	}
	if out, err := tests.Run("unseen", "TestAdd"); err != nil {
		t.Errorf("with a bug that the test doesn't see: %v\n%s", err, out)
	}
	if out, err := tests.Run("one too many", "TestAdd"); err == nil || !strings.Contains(out, "[0 1 2]") {
		t.Errorf("with the bug: %v\n%s", err, out)
	}
}

// TestText tests that only tokens count.
func TestText(t *testing.T) {
	dir := written(t)
	path := filepath.Join(dir, "shelf", "shelf.go")
	for old, want := range map[string]string{
		"s.items = append(s.items, item)": "\t}\n\tNEW\n}",
		"if s.full() { return }":          "(item T) {\n\tNEW\n\ts.items",
		"return }; s.items":               "is no code: s.full()\n\t\tNEW = append",
		"item T) {":                       "Add(NEW\n\tif",
	} {
		changed, err := plant(dir, map[string]Bug{"bug": In("shelf.(*Shelf).Add", old, "NEW")})
		if err != nil {
			t.Error(err)
			continue
		}
		if !strings.Contains(changed[path], want) {
			t.Errorf("%q: in\n%s\nthere is no %q", old, changed[path], want)
		}
		files := slices.Sorted(maps.Keys(changed))
		if planted := filepath.Join(dir, "shelf", "planted.go"); !slices.Equal(files, []string{planted, path}) {
			t.Errorf("%q changes %v", old, files)
		}
	}
}

func TestRefused(t *testing.T) {
	dir := written(t)
	for want, bugs := range map[string]map[string]Bug{
		`bug "a": there is no function Open below ` + dir + "; where should the bug be now?": {
			"a": In("Open", "x", "y"),
		},
		"there is no function Other":      {"a": In("Other", "x", "y")},
		"there is no function TestAdd":    {"a": In("TestAdd", "x", "y")},
		"2 functions are named New":       {"a": In("New", "return 0", "return 1")},
		`"t > 1" is 2 times in Till.full`: {"a": In("Till.full", "t > 1", "BUG")},
		`"t >" is 0 times in (*Till).Add`: {"a": In("(*Till).Add", "t >", "BUG")},
		`"" is 0 times in (*Till).Add`:    {"a": In("(*Till).Add", "", "BUG")},
		`bugs "a" and "b" replace the same text`: {
			"a": In("till.New", "return 0", ""),
			"b": In("till.New", "0", ""),
		},
		"there is no function shelf.(*Shelf).Open": {"a": In("shelf.(*Shelf).Open", "x", "y")},
	} {
		if _, err := plant(dir, bugs); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: the error is %v, want %q", bugs, err, want)
		}
	}
}

// TestSeveralPlaces plants a bug at two places of two packages.
func TestSeveralPlaces(t *testing.T) {
	bug := In("(*Shelf).full", "== 2", "== map[bool]int{true: 3, false: 2}[BUG]").
		And("till.New", "return 0", "if BUG { return 1 }; return 0")
	dir := written(t)
	sources, err := Plant(t.TempDir(), dir, map[string]Bug{"a": bug.From("issue 1", "the rig")})
	if err != nil {
		t.Fatal(err)
	}
	tests, err := sources.Build(filepath.Join(dir, "shelf"))
	if err != nil {
		t.Fatal(err)
	}
	if out, err := tests.RunIn(dir, "", "TestAdd"); err != nil {
		t.Errorf("without a bug: %v\n%s", err, out)
	}
	if out, err := tests.RunIn(dir, "a", "TestAdd"); err == nil {
		t.Errorf("with the bug: %s", out)
	}
	if len(sources.packages) != 2 {
		t.Errorf("bugs are in %v", sources.packages)
	}
}
