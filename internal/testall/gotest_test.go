package main

import (
	"strings"
	"testing"
)

func TestCount(t *testing.T) {
	const stream = `{"Action":"run","Package":"p","Test":"TestA"}
{"Action":"output","Package":"p","Test":"TestA","Output":"quiet\n"}
{"Action":"pass","Package":"p","Test":"TestA"}
{"Action":"output","Package":"p","Test":"TestB","Output":"loud\n"}
{"Action":"fail","Package":"p","Test":"TestB"}
{"Action":"output","Package":"p","Test":"TestC","Output":"needs a moon\n"}
{"Action":"skip","Package":"p","Test":"TestC"}
{"Action":"output","Package":"q","Test":"TestD","Output":"panic: of another goroutine\n"}
{"Action":"output","Package":"p","Test":"TestE","Output":"of another package\n"}
{"Action":"fail","Package":"q"}
{"Action":"pass","Package":"p","Test":"TestE"}
{"Action":"fail","Package":"p"}
`
	var out strings.Builder
	c, err := count(strings.NewReader(stream), &out)
	if err != nil {
		t.Fatal(err)
	}
	if want := (counts{passed: 2, failed: 2, skipped: 1}); c != want {
		t.Errorf("counts %+v, want %+v", c, want)
	}
	if s := out.String(); strings.Contains(s, "quiet") || strings.Contains(s, "another package") ||
		!strings.Contains(s, "loud") || !strings.Contains(s, "needs a moon") ||
		!strings.Contains(s, "FAIL q TestD\npanic") {
		t.Errorf("shown:\n%s", s)
	}
	if _, err := count(strings.NewReader("{"), &out); err == nil {
		t.Error("a cut stream is no error")
	}
}
