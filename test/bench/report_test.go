package main

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// sample is a result with a row for each headline, in another order than theirs, and more: two that are worse
// for us, two that are equal, one without a ratio.
func sample(of string) result {
	r := result{
		Part: of, Started: time.Date(2026, 11, 22, 18, 0, 0, 0, time.UTC), Took: 90 * time.Second,
		Environment: environment{
			CPU: "A Fine Processor", Cores: 2, Memory: "8.0 GiB", System: "linux/amd64",
			Go: "go1.26.8", ClientGo: "v0.37.2", CodeGen: "v0.37.2", Commit: "a31a55841236",
		},
	}
	for i, h := range headlines {
		fields := strings.Fields(h.of)
		x := float64(i + 1)
		r.Rows = append([]*row{{
			Package: fields[0], Name: fields[1], Unit: fields[2],
			Ours: []float64{x, x + .5, x + .25}, Theirs: []float64{30 * x, 20 * x, 25 * x},
		}}, r.Rows...)
	}
	r.Rows = append(r.Rows,
		&row{"p", "Slow", "ns/op", []float64{8, 9, 10}, []float64{2, 3, 4}, nil},
		&row{"p", "Slower", "MB/s", []float64{1, 1, 1}, []float64{70, 80, 90}, nil},
		&row{"p", "Same", "allocs/op", []float64{2, 2, 2}, []float64{2, 2, 2}, nil},
		&row{"p", "Even", "B/op", []float64{1001, 2001, 3001}, []float64{1000, 2000, 3000}, nil},
		&row{"p", "Odd", "heap-B/op", []float64{-2, -2, -2}, []float64{2, 2, 2}, nil},
	)
	return r
}

// TestPage: the most important rows come in the order of their list. Each row is in the table of all. Those
// in which ours isn't better are under a heading of their own.
func TestPage(t *testing.T) {
	r := newReport([]result{sample("wire")})
	page, err := r.render(pageTemplate)
	if err != nil {
		t.Fatal(err)
	}
	_, first, _ := strings.Cut(page, "\n## What matters first\n")
	first, notBetter, _ := strings.Cut(first, "\n## Where we are not better\n")
	notBetter, all, found := strings.Cut(notBetter, "\n## All rows\n")
	if !found {
		t.Fatalf("headings are missing:\n%s", page)
	}
	at := 0
	for _, h := range headlines {
		i := strings.Index(first[at:], "| "+h.Label+" | ")
		if i < 0 {
			t.Fatalf("%q is missing or out of order:\n%s", h.Label, first)
		}
		at += i
	}
	for _, row := range sample("wire").Rows {
		if n := strings.Count(all, "| "+row.Package+" "+row.Name+" | "+row.Unit+" |"); n != 1 {
			t.Errorf("%s is there %d times", row.key(), n)
		}
	}
	const want = `
Of 25 rows, theirs is better in 2 and neither in 2. 1 without a ratio:
memory that was measured as a difference came out negative.

Theirs is better, the worst for us first:

| what | unit | ratio | ours | theirs | ours, spread | theirs, spread |
|---|---|--:|--:|--:|--:|--:|
| p Slower | MB/s | 0.0125 | 1 | 80 | 1 | 70 .. 90 |
| p Slow | ns/op | 0.333 | 9 | 3 | 8 .. 10 | 2 .. 4 |

Less than a thousandth of difference:

| what | unit | ratio | ours | theirs | ours, spread | theirs, spread |
|---|---|--:|--:|--:|--:|--:|
| p Same | allocs/op | 1.00 | 2 | 2 | 2 | 2 |
| p Even | B/op | ≈ 1.000 | 2,001 | 2,000 | 1,001 .. 3,001 | 1,000 .. 3,000 |

Without a ratio:

| what | unit | ratio | ours | theirs | ours, spread | theirs, spread |
|---|---|--:|--:|--:|--:|--:|
| p Odd | heap-B/op | - | -2 | 2 | -2 | 2 |
`
	if notBetter != want {
		t.Errorf("where we are not better:\n%s", notBetter)
	}
	if strings.Contains(page, "| share |") {
		t.Error("the page has a table of shares of nothing")
	}
	for _, text := range []string{"A Fine Processor, 2 cores, 8.0 GiB", "a31a55841236", "2026-11-22"} {
		if !strings.Contains(page, text) {
			t.Errorf("the page doesn't have %q", text)
		}
	}
}

// TestShares: rows with a share are in a table of their own, as well as in that of all rows.
func TestShares(t *testing.T) {
	r := sample("sharding")
	r.Rows = append(r.Rows,
		&row{"p", "Part/replicas=2", "live-MB", []float64{51}, []float64{120}, []float64{50}})
	page, err := newReport([]result{r}).render(pageTemplate)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"\n| p Part/replicas=2 | live-MB | 2.35 | 51 | 120 | 51 | 120 |\n\nThe share is",
		"|\n|---|---|--:|--:|--:|\n| p Part/replicas=2 | live-MB | 51 | 50 | +2.0% |\n",
	} {
		if strings.Count(page, want) != 1 {
			t.Errorf("the page doesn't have %q once:\n%s", want, page)
		}
	}
}

// TestWrite: the page links exactly the charts that exist. Every number in README's section is in the page.
func TestWrite(t *testing.T) {
	root, dir := t.TempDir(), t.TempDir()
	write(t, filepath.Join(root, "README.md"), "above\n"+sectionBegin+"old\n"+sectionEnd+"below\n")
	stale := filepath.Join(dir, "docs", "benchmarks", "stale.svg")
	write(t, stale, "")
	if err := newReport([]result{sample("wire")}).write(root, dir); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(stale); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a chart of an earlier run: %v", err)
	}
	page := read(t, filepath.Join(dir, "docs", "benchmarks.md"))
	readme := read(t, filepath.Join(dir, "README.md"))
	for _, c := range charts {
		if !strings.Contains(page, "](benchmarks/"+c.name+".svg)") {
			t.Errorf("the page doesn't link chart %s", c.name)
		}
		if strings.Contains(readme, "](docs/benchmarks/"+c.name+".svg)") != c.inReadme {
			t.Errorf("README and chart %s", c.name)
		}
		checkChart(t, read(t, filepath.Join(dir, "docs", "benchmarks", c.name+".svg")), c)
	}
	if !strings.HasPrefix(readme, "above\n"+sectionBegin) || !strings.HasSuffix(readme, sectionEnd+"below\n") {
		t.Errorf("README:\n%s", readme)
	}
	for _, h := range headlines[:inReadme] {
		if !strings.Contains(readme, "| "+h.Label+" | ") {
			t.Errorf("README doesn't have %q", h.Label)
		}
	}
	if missing := strangers(t, readme, page); len(missing) > 0 {
		t.Errorf("README's numbers that the page doesn't have: %q", missing)
	}
}

// checkChart checks that a chart is well-formed and shows the names and figures of its rows.
func checkChart(t *testing.T, svg string, c chart) {
	t.Helper()
	var texts []string
	for d := xml.NewDecoder(strings.NewReader(svg)); ; {
		token, err := d.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatalf("chart %s: %v", c.name, err)
		}
		if text, ok := token.(xml.CharData); ok {
			texts = append(texts, string(text))
		}
	}
	shown := strings.Join(texts, "\n")
	for _, h := range newReport([]result{sample("wire")}).Headlines {
		if h.chart != c.name {
			continue
		}
		ours := h.OursInUnit() + "  (" + h.Ratio() + "×)"
		for _, text := range []string{c.caption, c.theirs, h.bar, ours, h.TheirsInUnit()} {
			if !strings.Contains(shown, text) {
				t.Errorf("chart %s doesn't show %q", c.name, text)
			}
		}
	}
}

// TestPartly: a report of some rows has what these allow, and lists what is missing.
func TestPartly(t *testing.T) {
	whole := sample("generators")
	r := newReport([]result{{Part: "generators", Rows: whole.Rows[:1]}}) // the last headline
	if len(r.Headlines) != 1 || len(r.Missing) != len(headlines)-1 || len(r.Charts) != 0 {
		t.Errorf("%d headlines, %d missing, %d charts", len(r.Headlines), len(r.Missing), len(r.Charts))
	}
}

// TestSaved: saved results can be loaded again, unless they don't belong together.
func TestSaved(t *testing.T) {
	dir := t.TempDir()
	both := parts[:2]
	for _, p := range both {
		if err := sample(p.name).save(dir); err != nil {
			t.Fatal(err)
		}
	}
	var files []string // those that have changed
	changed := func(string, []string) ([]string, error) { return files, nil }
	loaded, err := loadAll(dir, both, changed)
	if err != nil {
		t.Fatal(err)
	}
	page, err := newReport(loaded).render(pageTemplate)
	if err != nil {
		t.Fatal(err)
	}
	want, err := newReport([]result{sample(both[0].name), sample(both[1].name)}).render(pageTemplate)
	if err != nil {
		t.Fatal(err)
	}
	if page != want {
		t.Errorf("page of saved results:\n%s\nwant\n%s", page, want)
	}
	other := sample(both[1].name)
	other.Environment.Commit = "another"
	if err := other.save(dir); err != nil {
		t.Fatal(err)
	}
	if loaded, err = loadAll(dir, both, changed); err != nil {
		t.Errorf("results of two commits that don't differ in what is measured: %v", err)
	}
	if page, err := newReport(loaded).render(pageTemplate); err != nil ||
		!strings.Contains(page, ", another |") {
		t.Errorf("error %v, the page doesn't name both commits:\n%s", err, page)
	}
	files = []string{"runtime/queue/queue.go"}
	if _, err := loadAll(dir, both, changed); err == nil || !strings.Contains(err.Error(), files[0]) {
		t.Errorf("results of two commits that differ: %v", err)
	}
	files = nil
	other.Environment.Cores++
	if err := other.save(dir); err != nil {
		t.Fatal(err)
	}
	if _, err := loadAll(dir, both, changed); err == nil || !strings.Contains(err.Error(), both[1].name) {
		t.Errorf("results of two machines: %v", err)
	}
	if _, err := loadAll(t.TempDir(), both, changed); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("results that aren't there: %v", err)
	}
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
