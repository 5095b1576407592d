package main

import (
	"strings"
	"testing"
)

func TestTable(t *testing.T) {
	const output = `goos: linux
pkg: example.com/store
BenchmarkGet/ours/indexes=3-2     	 100	 10 ns/op	 0 allocs/op
BenchmarkGet/client-go/indexes=3-2	 100	 40 ns/op	 2 allocs/op
BenchmarkGet/ours/indexes=3-2     	 100	 20 ns/op	 0 allocs/op
BenchmarkGet/client-go/indexes=3-2	 100	 30 ns/op	 2 allocs/op
BenchmarkGet/ours/indexes=3-2     	 100	 12 ns/op	 0 allocs/op
BenchmarkGet/client-go/indexes=3-2	 100	 36 ns/op	 2 allocs/op
BenchmarkAlone-2	 100	 36 ns/op
PASS
`
	measured := table{byKey: map[key]*row{}}
	other, err := measured.read(strings.NewReader(output))
	if err != nil {
		t.Fatal(err)
	}
	if len(other) != 2 {
		t.Errorf("lines that are no results: %q", other)
	}
	var b strings.Builder
	write(&b, measured.complete())
	got := strings.Fields(b.String())
	want := strings.Fields(`what unit ours theirs ratio
		store Get/indexes=3 ns/op 12 36 3.00
		store Get/indexes=3 allocs/op 0 2 inf`)
	if strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("table:\n%s", b.String())
	}
}
