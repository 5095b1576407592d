package main

import (
	"bytes"
	"flag"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden file anew")

// TestBroken compares what is said of definitions that servers refuse with a golden file.
func TestBroken(t *testing.T) {
	const golden = "testdata/broken.txt"
	var out bytes.Buffer
	status, err := run(t.Context(), []string{"./testdata/broken/..."}, &out)
	if status != refused || err != nil {
		t.Errorf("status %d, %v", status, err)
	}
	if *update {
		if err := os.WriteFile(golden, out.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if out.String() != string(want) {
		t.Errorf("run with -update, and look at the difference. It says:\n%s", out.String())
	}
}

// TestRun checks the exit statuses.
func TestRun(t *testing.T) {
	for args, want := range map[string]struct {
		status int
		text   string
	}{
		"./testdata/good": {accepted, "definitions that servers accept: all 1\n"},
		"./testdata/misspelt": {accepted, "testdata/misspelt/types.go:12:5: warning: " +
			"+kubebuilder:validation:Minimun is no marker of controller-gen; did you mean " +
			"\"kubebuilder:validation:Minimum\"?\ndefinitions that servers accept: all 1\n"},
		"./testdata":      {refused, "./testdata: no Go files in "},
		"--nothing":       {failed, "crdcheck: unknown flag: --nothing"},
		"./testdata/none": {failed, "no type in [./testdata/none] embeds TypeMeta and ObjectMeta"},
	} {
		t.Run(args, func(t *testing.T) {
			var out bytes.Buffer
			status, err := run(t.Context(), strings.Fields(args), &out)
			text := out.String()
			if err != nil {
				text += err.Error()
			}
			if status != want.status || !strings.Contains(text, want.text) {
				t.Errorf("status %d: %s\nwant status %d: %s", status, text, want.status, want.text)
			}
		})
	}
}
