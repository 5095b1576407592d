package main

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// sample is a result with a row for each headline, in another order than theirs, and more: one for each other
// row of the page, of which the second is worse for us, and apart from these two that are worse, two that are
// equal, one without a ratio.
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
	for i, h := range felt {
		fields := strings.Fields(h.of)
		r.Rows = append(r.Rows, &row{fields[0], fields[1], fields[2], []float64{3}, []float64{9}, nil})
		if i == 1 || moreIsBetter(fields[2]) {
			r.Rows[len(r.Rows)-1].Ours = []float64{12}
		}
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

// TestPage: the most important rows come in the order of their list. Then come those in which ours isn't
// better, and those of each part.
func TestPage(t *testing.T) {
	r := newReport([]result{sample("wire")})
	page, err := r.render(pageTemplate)
	if err != nil {
		t.Fatal(err)
	}
	_, first, _ := strings.Cut(page, "\n## What matters first\n")
	first, notBetter, _ := strings.Cut(first, "\n## Where we are not better\n")
	notBetter, ofParts, found := strings.Cut(notBetter, "\n## What each part shows\n")
	if !found {
		t.Fatalf("headings are missing:\n%s", page)
	}
	rows := len(sample("wire").Rows)
	inOrder(t, first, headlines)
	inOrder(t, ofParts, slices.Concat(felt[:1], felt[2:]))
	want := fmt.Sprintf(`
Of %d rows, theirs is better in 3 and neither in 2. 1 without a ratio:
memory that was measured as a difference came out negative.

Of the rows that a user feels, theirs is better in these, the worst for us first:

| what | ratio | ours | theirs |
|---|--:|--:|--:|
| %s | 0.750 | 12 MB | 9 MB |
`, rows, felt[1].Label)
	if notBetter != want {
		t.Errorf("where we are not better:\n%s", notBetter)
	}
	for _, text := range []string{
		"A Fine Processor, 2 cores, 8.0 GiB", "a31a55841236", "2026-11-22",
		"\n### wire\n\nMeasured: " + parts[0].about + ".\nEach of ",
		fmt.Sprintf(".\nEach of %d rows 3 times, in 1m30s.\n\n| what", rows),
	} {
		if !strings.Contains(page, text) {
			t.Errorf("the page doesn't have %q", text)
		}
	}
}

// inOrder checks that a text has the rows of a list, in its order.
func inOrder(t *testing.T, text string, list []headline) {
	t.Helper()
	at := 0
	for _, h := range list {
		i := strings.Index(text[at:], "| "+h.Label+" | ")
		if i < 0 {
			t.Fatalf("%q is missing or out of order:\n%s", h.Label, text)
		}
		at += i + 1
	}
}

// TestData: each row is a line of the file for programs.
func TestData(t *testing.T) {
	r := sample("sharding")
	r.Rows = append(r.Rows,
		&row{"p", "Part/replicas=2", "live-MB", []float64{51}, []float64{1200}, []float64{50}},
		&row{"p", "None", "allocs/op", []float64{0}, []float64{2}, nil})
	var b strings.Builder
	if err := newReport([]result{r}).writeData(&b); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
	if len(lines) != 1+len(r.Rows) || lines[0] != strings.Join(columns, "\t") {
		t.Errorf("%d lines for %d rows; the first is %q", len(lines), len(r.Rows), lines[0])
	}
	for _, want := range []string{
		"sharding p Slower MB/s 0.0125 - 1 80 - 1 1 70 90",
		"sharding p Even B/op 1.000 yes 2001 2000 - 1001 3001 1000 3000",
		"sharding p Odd heap-B/op - - -2 2 - -2 -2 2 2",
		"sharding p Part/replicas=2 live-MB 23.5 - 51 1200 50 51 51 1200 1200",
		"sharding p None allocs/op inf - 0 2 - 0 0 2 2",
	} {
		cells := strings.Fields(want)
		for i, c := range cells {
			if c == "-" {
				cells[i] = ""
			}
		}
		if len(cells) != len(columns) || !slices.Contains(lines, strings.Join(cells, "\t")) {
			t.Errorf("no line %q:\n%s", want, strings.Join(lines, "\n"))
		}
	}
}

// TestDataOfPage: the file for programs has as many rows as the page says, and all of the page.
func TestDataOfPage(t *testing.T) {
	page := read(t, filepath.Join(root, "docs", "benchmarks.md"))
	rows, worse, barely := map[string]bool{}, 0, 0
	for line := range strings.Lines(read(t, filepath.Join(root, "docs", dataFile))) {
		cells := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(cells) != len(columns) {
			t.Fatalf("%d cells: %q", len(cells), line)
		}
		if slices.Equal(cells, columns) {
			continue
		}
		rows[strings.Join(cells[1:4], " ")] = true
		if ratio, err := strconv.ParseFloat(cells[4], 64); err == nil && ratio < .999 {
			worse++
		} else if ratio == .999 { // perhaps less than a thousandth of difference
			barely++
		}
	}
	var total, theirs int
	_, counted, _ := strings.Cut(page, "\nOf ")
	if _, err := fmt.Sscanf(counted, "%d rows, theirs is better in %d ", &total, &theirs); err != nil ||
		total != len(rows) || theirs < worse || theirs > worse+barely {
		t.Errorf("the page says that theirs is better in %d of %d rows, the file has %d to %d of %d; %v",
			theirs, total, worse, worse+barely, len(rows), err)
	}
	for _, h := range slices.Concat(headlines, felt) {
		if !rows[h.of] {
			t.Errorf("%s has no row %s", dataFile, h.of)
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
	for _, h := range headlines {
		if strings.Contains(readme, "| "+h.Label+" | ") != h.inReadme {
			t.Errorf("README and %q", h.Label)
		}
	}
	if data := read(t, filepath.Join(dir, "docs", dataFile)); !strings.Contains(data, "\tSlower\t") {
		t.Errorf("the file for programs:\n%s", data)
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
	if len(r.Headlines) != 1 || len(r.Missing) != len(headlines)+len(felt)-1 || len(r.Charts) != 0 {
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
