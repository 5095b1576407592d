package main

import (
	"strings"
	"testing"
)

func TestCompareResults(t *testing.T) {
	read := func(stream string) testResults {
		results, err := readResults(strings.NewReader(stream))
		if err != nil {
			t.Fatal(err)
		}
		return results
	}
	results := read(`{"Action":"start","Package":"p"}
{"Action":"pass","Package":"p","Test":"Good"}
{"Action":"skip","Package":"p","Test":"Skipped"}
{"Action":"fail","Package":"p","Test":"Bad/sub"}
{"Action":"output","Package":"p","Test":"Bad","Output":"why\n"}
{"Action":"fail","Package":"p","Test":"Bad"}
{"Action":"fail","Package":"p","Test":"Worse"}
{"Action":"run","Package":"p","Test":"Endless"}
{"Action":"fail","Package":"p"}
{"Action":"pass","Package":"q"}
`)
	if failing := results.failing(); len(failing) != 1 || failing[0] != "p" {
		t.Errorf("failing: %v", failing)
	}
	released := read(`{"Action":"pass","Package":"p","Test":"Bad"}
{"Action":"fail","Package":"p","Test":"Worse"}
{"Action":"fail","Package":"p"}
`)
	var out strings.Builder
	good, all, both := results.compare(released, &out)
	// Good, Skipped and q are good, Bad and Endless are not, Worse and p fail in both.
	if good != 3 || all != 5 || both != 2 {
		t.Errorf("%d of %d, %d in both", good, all, both)
	}
	if s := out.String(); !strings.Contains(s, "p Bad fails\n    why") ||
		!strings.Contains(s, "p Endless fails") || strings.Contains(s, "Worse") {
		t.Errorf("reported:\n%s", s)
	}
	if _, err := readResults(strings.NewReader("{")); err == nil {
		t.Error("a cut stream is no error")
	}
}
