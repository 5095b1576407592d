package main

import (
	"math"
	"slices"
	"strings"
	"testing"
)

func TestSplit(t *testing.T) {
	for _, c := range []struct{ full, name, side string }{
		{"BenchmarkGet/ours/indexes=3-2", "Get/indexes=3", "ours"},
		{"BenchmarkGet/client-go/indexes=3-16", "Get/indexes=3", "client-go"},
		{"BenchmarkGenerate/all/upstream", "Generate/all", "upstream"},
		{"BenchmarkGet/ours#01-2", "Get", "ours"},
		{"BenchmarkGet/ours#12/size=7#02", "Get/size=7", "ours"},
		{"BenchmarkGet/issue#x/ours-2", "Get/issue#x", "ours"},
		{"BenchmarkGet/10-of-100/ours", "Get/10-of-100", "ours"},
		{"BenchmarkPart/replicas=8/share-2", "Part/replicas=8", "share"},
		{"BenchmarkAlone-2", "Alone", ""},
	} {
		if name, side := split(c.full); name != c.name || side != c.side {
			t.Errorf("%s: %q, %q", c.full, name, side)
		}
	}
}

const printed = `goos: linux
pkg: example.com/store
cpu: A Fine Processor
BenchmarkGet/ours/indexes=3-2     	 100	 10 ns/op	 50.5 MB/s	 0 allocs/op
BenchmarkGet/client-go/indexes=3-2	 100	 40 ns/op	 25.0 MB/s	 2 allocs/op
BenchmarkGet/ours/indexes=3#01-2     	 100	 20 ns/op	 51.5 MB/s	 0 allocs/op
BenchmarkGet/client-go/indexes=3#01-2	 100	 30 ns/op	 26.0 MB/s	 2 allocs/op
BenchmarkGet/ours/indexes=3-2     	 100	 12 ns/op	 52.5 MB/s	 0 allocs/op
BenchmarkGet/client-go/indexes=3-2	 100	 36 ns/op	 12.0 MB/s	 2 allocs/op
BenchmarkOneSided/ours-2	 100	 36 ns/op
BenchmarkAlone-2	 100	 36 ns/op
PASS
`

func TestRead(t *testing.T) {
	m := newMeasurements()
	var seen []string
	other, err := m.read("store", strings.NewReader(printed), func(name string) { seen = append(seen, name) })
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"goos: linux", "pkg: example.com/store", "cpu: A Fine Processor", "PASS"}
	if !slices.Equal(other, want) {
		t.Errorf("lines that are no results: %q", other)
	}
	if len(seen) != 8 || seen[7] != "BenchmarkAlone-2" {
		t.Errorf("seen: %q", seen)
	}
	if m.cpu != "A Fine Processor" {
		t.Errorf("CPU %q", m.cpu)
	}
	var b strings.Builder
	writeRows(&b, m.complete())
	table := `what unit ours theirs ratio ours, spread theirs, spread
		store Get/indexes=3 ns/op 12 36 3.00 10 .. 20 30 .. 40
		store Get/indexes=3 MB/s 51.5 25 2.06 50.5 .. 52.5 12 .. 26
		store Get/indexes=3 allocs/op 0 2 ∞ 0 2`
	if got := strings.Fields(b.String()); !slices.Equal(got, strings.Fields(table)) {
		t.Errorf("table:\n%s", b.String())
	}
	_, err = m.read("store", strings.NewReader("BenchmarkGet/ours 1 fast ns/op\n"), func(string) {})
	if err == nil {
		t.Error("a measurement that is no number is no error")
	}
}

// TestExcess checks by how much ours exceeds its share, which only rows of parts have.
func TestExcess(t *testing.T) {
	m := newMeasurements()
	const printed = "BenchmarkPart/replicas=8/ours 1 110 live-MB\n" +
		"BenchmarkPart/replicas=8/client-go 1 900 live-MB\n" +
		"BenchmarkPart/replicas=8/share 1 100 live-MB\nBenchmarkPart/replicas=1/ours 1 90 live-MB\n" +
		"BenchmarkPart/replicas=1/client-go 1 900 live-MB\n"
	if _, err := m.read("p", strings.NewReader(printed), func(string) {}); err != nil {
		t.Fatal(err)
	}
	rows := m.complete()
	if len(rows) != 2 || rows[0].Excess() != "+10.0%" || rows[0].ShareMedian() != "100" || rows[1].Share != nil {
		t.Errorf("%+v", rows)
	}
	rows[0].Share[0] = 125
	if got := rows[0].Excess(); got != "-12.0%" {
		t.Error(got)
	}
	var b strings.Builder
	writeShares(&b, withShares(rows))
	table := `what unit ours share more
		p Part/replicas=8 live-MB 110 125 -12.0%`
	if got := strings.Fields(b.String()); !slices.Equal(got, strings.Fields(table)) {
		t.Errorf("table:\n%s", b.String())
	}
}

// TestRatio: above 1 is better for us, whatever the unit. Swapping the sides inverts the ratio.
func TestRatio(t *testing.T) {
	for _, c := range []struct {
		unit         string
		ours, theirs float64
		ratio        float64
	}{
		{"ns/op", 10, 20, 2},
		{"ns/op", 20, 10, .5},
		{"allocs/op", 0, 2, math.Inf(1)},
		{"allocs/op", 0, 0, 1},
		{"KB/informer", 4, 1, .25},
		{"cpu-s", 1, 4, 4},
		{"MB", 1, 4, 4},
		{"peak-MB", 4, 1, .25},
		{"MB/s", 20, 10, 2},
		{"MB/s", 10, 20, .5},
	} {
		r := row{Unit: c.unit, Ours: []float64{c.ours}, Theirs: []float64{c.theirs}}
		if got := r.ratio(); got != c.ratio {
			t.Errorf("%s, ours %v, theirs %v: ratio %v, want %v", c.unit, c.ours, c.theirs, got, c.ratio)
		}
		swapped := row{Unit: c.unit, Ours: r.Theirs, Theirs: r.Ours}
		if got := swapped.ratio(); got != 1/c.ratio {
			t.Errorf("%s, swapped: ratio %v, want %v", c.unit, got, 1/c.ratio)
		}
	}
	negative := row{Unit: "heap-B/informer", Ours: []float64{-8}, Theirs: []float64{16}}
	if got := negative.ratio(); !math.IsNaN(got) {
		t.Errorf("of a negative measurement: %v", got)
	}
}

func TestOverlap(t *testing.T) {
	for _, c := range []struct {
		ours, theirs []float64
		ratio        string
	}{
		{[]float64{1, 2, 3}, []float64{4, 5, 6}, "2.50"},
		{[]float64{1, 2, 4}, []float64{4, 5, 6}, "≈ 2.50"},
		{[]float64{1, 5, 9}, []float64{4, 5.5, 6}, "≈ 1.10"},
		{[]float64{4, 5, 6}, []float64{1, 2, 3}, "0.400"},
		{[]float64{3, 5, 6}, []float64{1, 2, 3}, "≈ 0.400"},
		{[]float64{2, 2, 2}, []float64{2, 2, 2}, "1.00"},
		{[]float64{0, 0, 0}, []float64{2, 2, 2}, "∞"},
		{[]float64{2, 2, 2}, []float64{0, 0, 0}, "0"},
		{[]float64{-1, -2, -1}, []float64{2, 2, 2}, "-"},
	} {
		r := row{Unit: "ns/op", Ours: c.ours, Theirs: c.theirs}
		if got := r.Ratio(); got != c.ratio {
			t.Errorf("ours %v, theirs %v: %q, want %q", c.ours, c.theirs, got, c.ratio)
		}
	}
}
