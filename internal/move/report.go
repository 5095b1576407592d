package move

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
)

// Entry is a line of a report. Line is that of the file before the change, 0 if the entry is about the whole
// file or folder, or about a line that is new.
type Entry struct {
	File string
	Line int
	Text string
}

// String returns the entry in the form that editors and compilers use for places.
func (e Entry) String() string {
	if e.Line == 0 {
		return e.File + ": " + e.Text
	}
	return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Text)
}

// Report says what a run changed, or would change, and what it can't.
type Report struct {
	// Wrote is true if the changes were written.
	Wrote   bool
	Changes []Entry
	// Stays are the packages that could not be changed.
	Stays []Entry
	// ByHand is what is left to people.
	ByHand []Entry
	// Unmoved is why nothing can change, "" if something could.
	Unmoved string
	// Files and Lines are the numbers of Go files, and of lines in them, that are new or changed.
	Files, Lines int
}

func (r *Report) change(file string, line int, text string) {
	r.Changes = append(r.Changes, Entry{file, line, text})
}

func (r *Report) byHand(file string, line int, text string) {
	e := Entry{file, line, text}
	if !slices.Contains(r.ByHand, e) {
		r.ByHand = append(r.ByHand, e)
	}
}

func (r *Report) sort() {
	for _, entries := range [][]Entry{r.Changes, r.Stays, r.ByHand} {
		slices.SortStableFunc(entries, func(a, b Entry) int {
			return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
		})
	}
}

// WriteTo writes the report for people.
func (r *Report) WriteTo(w io.Writer) (int64, error) {
	var text bytes.Buffer
	section := func(title string, entries []Entry) {
		if len(entries) > 0 {
			fmt.Fprintf(&text, "%s\n", title)
			for _, e := range entries {
				fmt.Fprintln(&text, e)
			}
			text.WriteString("\n")
		}
	}
	verb := "Would change"
	if r.Wrote {
		verb = "Changed"
	}
	section(verb+":", r.Changes)
	section("Stays as it is, because of these errors:", r.Stays)
	section("Left to you:", r.ByHand)
	switch {
	case r.Unmoved != "":
		fmt.Fprintf(&text, "Nothing to change: %s.\n", r.Unmoved)
	case len(r.Changes) == 0:
		text.WriteString("Nothing to change.\n")
	case r.Wrote:
		fmt.Fprintf(&text, "%s changed in %s.\n", count(r.Lines, "line"), count(r.Files, "Go file"))
	default:
		fmt.Fprintf(&text, "%s would change in %s; -w writes them.\n", count(r.Lines, "line"),
			count(r.Files, "Go file"))
	}
	return text.WriteTo(w)
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// reportChanges reports what new texts change.
func (m *mover) reportChanges(texts map[string][]byte) error {
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		if !strings.HasSuffix(name, ".go") {
			continue
		}
		old, err := readSource(name)
		if err != nil {
			return err
		}
		m.report.Files++
		m.report.Lines += newLines(old.text, texts[name])
		m.reportImports(old)
		m.reportOptions(old)
	}
	return m.reportMod(texts)
}

// reportImports reports the imports of a file that change.
func (m *mover) reportImports(old *source) {
	for _, spec := range old.syntax.Imports {
		if to := m.paths[pathOf(spec)]; to != "" {
			m.report.change(m.relative(old.name), old.line(spec.Pos()), pathOf(spec)+" -> "+to)
		}
	}
}

// reportOptions reports the options that a file gains or loses.
func (m *mover) reportOptions(old *source) {
	for _, line := range m.gets[old.name] {
		m.report.change(m.relative(old.name), line, "the manager gets NewCache")
	}
	for _, line := range old.optionLines() {
		if m.Back {
			m.report.change(m.relative(old.name), line, "the manager loses NewCache")
		}
	}
}

// reportMod reports the changes of go.mod, except what go mod tidy adds and removes, and of other files.
func (m *mover) reportMod(texts map[string][]byte) error {
	name := m.path("go.mod")
	if texts[name] != nil {
		next, err := m.parse(texts[name])
		if err != nil {
			return err
		}
		before := len(m.report.Changes)
		if m.reportRequirements(m.relative(name), next); len(m.report.Changes) == before {
			m.report.change(m.relative(name), 0, "go mod tidy changes what is a direct requirement")
		}
	}
	for _, other := range []string{m.path("go.sum"), m.workspace} {
		if _, ok := texts[other]; ok {
			m.report.change(m.relative(other), 0, "follows from go.mod")
		}
	}
	return nil
}

func (m *mover) reportRequirements(file string, next *modfile.File) {
	others := 0
	old := map[string]string{}
	for _, r := range m.mod.Require {
		old[r.Mod.Path] = r.Mod.Version
		to := requirement(next, r.Mod.Path)
		switch {
		case to == r.Mod.Version:
		case to != "" && !r.Indirect:
			m.report.change(file, r.Syntax.Start.Line, r.Mod.Path+" "+r.Mod.Version+" -> "+to)
		case isOwn(r.Mod.Path):
			m.report.change(file, r.Syntax.Start.Line, "no longer requires "+r.Mod.Path)
		default:
			others++
		}
	}
	for _, r := range next.Require {
		switch _, known := old[r.Mod.Path]; {
		case known:
		case isOwn(r.Mod.Path):
			m.report.change(file, 0, "requires "+r.Mod.Path+" "+r.Mod.Version)
		default:
			others++
		}
	}
	m.reportReplacements(file, next)
	if others > 0 {
		m.report.change(file, 0, "go mod tidy changes "+count(others, "other requirement"))
	}
	if m.mod.Go != nil && next.Go != nil && m.mod.Go.Version != next.Go.Version {
		m.report.change(file, m.mod.Go.Syntax.Start.Line, "go "+m.mod.Go.Version+" -> "+next.Go.Version)
	}
}

func (m *mover) reportReplacements(file string, next *modfile.File) {
	for _, r := range next.Replace {
		switch old := replacementLike(m.mod, r); {
		case old == nil && isPin(r):
			m.report.change(file, 0, "replaces "+r.Old.Path+" by its version "+r.New.Version)
		case old == nil, old.New != r.New && !isPin(r):
			m.report.change(file, 0, "replaces "+r.Old.Path+" by "+r.New.Path)
		case old.New != r.New:
			m.report.change(file, old.Syntax.Start.Line,
				"the replacement of "+r.Old.Path+": "+old.New.Version+" -> "+r.New.Version)
		}
	}
	for _, r := range m.mod.Replace {
		if replacementLike(next, r) == nil {
			m.report.change(file, r.Syntax.Start.Line, "no longer replaces "+r.Old.Path)
		}
	}
}

// replacementLike returns the replacement of what another go.mod replaces, too, or nil.
func replacementLike(mod *modfile.File, other *modfile.Replace) *modfile.Replace {
	for _, r := range mod.Replace {
		if r.Old == other.Old {
			return r
		}
	}
	return nil
}

// newLines returns how many lines of a text aren't in the one before, or the reverse, if these are more.
func newLines(before, after []byte) int {
	known := map[string]int{}
	for line := range bytes.Lines(before) {
		known[string(line)]++
	}
	added := 0
	for line := range bytes.Lines(after) {
		if known[string(line)]--; known[string(line)] < 0 {
			added++
		}
	}
	removed := 0
	for _, n := range known {
		removed += max(n, 0)
	}
	return max(added, removed)
}
