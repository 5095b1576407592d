package guarantee

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func TestTable(t *testing.T) {
	rows := Table()
	if first := rows[0]; first.Guarantee != Complete {
		t.Errorf("the first row is %+v", first)
	}
	if last := rows[len(rows)-1]; last.Guarantee != NoneUnowned {
		t.Errorf("the last row is %+v", last)
	}
	seen := map[Guarantee]bool{}
	for _, row := range rows {
		if row.Means == "" || seen[row.Guarantee] {
			t.Errorf("%+v has no meaning, or comes twice", row)
		}
		seen[row.Guarantee] = true
	}
}

func TestNamed(t *testing.T) {
	for line, want := range map[string]Guarantee{
		"none lost: seed 0: Len is 2, want 1": NoneLost, "seed 0": "", "lost: none lost": "", "none lost": NoneLost,
	} {
		if got := Named(line); got != want {
			t.Errorf("%q names %q", line, got)
		}
	}
}

const root = "../.."

// TestRows checks that docs/reliability.md has each guarantee with its meaning.
func TestRows(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(root, "docs", "reliability.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range Table() {
		line := "\n- *" + string(row.Guarantee) + "*: " + row.Means + "\n"
		if !strings.Contains(string(page), line) {
			t.Errorf("%s: the page has no %q; make track-record writes it", row.Guarantee, line)
		}
	}
}

// breaks is what the source of a planted bug says of it.
var breaks = regexp.MustCompile(`\bBreaks\(guarantee\.(\w+)\b`)

// TestBugs checks that for each guarantee a bug is planted that breaks it. The tests that plant bugs check
// that each is found.
func TestBugs(t *testing.T) {
	bugs := map[string]int{}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && path != root && strings.HasPrefix(entry.Name(), "."):
			return fs.SkipDir
		case entry.IsDir() || !strings.HasSuffix(path, ".go"):
			return nil
		}
		source, err := os.ReadFile(path)
		for _, match := range breaks.FindAllSubmatch(source, -1) {
			bugs[string(match[1])]++
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range Table() {
		t.Logf("%s: %d bugs", row.Guarantee, bugs[row.Name])
		if bugs[row.Name] == 0 {
			t.Errorf("%s: no planted bug breaks it", row.Guarantee)
		}
	}
}
