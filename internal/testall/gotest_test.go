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
{"Action":"fail","Package":"p"}
`
	var out strings.Builder
	c, err := count(strings.NewReader(stream), &out)
	if err != nil {
		t.Fatal(err)
	}
	if want := (counts{passed: 1, failed: 1, skipped: 1}); c != want {
		t.Errorf("counts %+v, want %+v", c, want)
	}
	if s := out.String(); strings.Contains(s, "quiet") || !strings.Contains(s, "loud") ||
		!strings.Contains(s, "needs a moon") {
		t.Errorf("shown:\n%s", s)
	}
	if _, err := count(strings.NewReader("{"), &out); err == nil {
		t.Error("a cut stream is no error")
	}
}
