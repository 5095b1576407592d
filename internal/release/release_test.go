package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestRehearsal installs and compiles what users would get with the next release.
func TestRehearsal(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles every command, and a program with the API server")
	}
	if err := rehearse(t.Context(), "../..", "v0.37.0", t.Output()); err != nil {
		t.Error(err)
	}
}

// TestNotReady checks what prevents a release.
func TestNotReady(t *testing.T) {
	for version, want := range map[string]string{
		"":        "is no version",
		"0.37.0":  "is no version",
		"v0.37":   "is no version",
		"v0.36.0": "docs/versions.md has none of",
	} {
		err := rehearse(t.Context(), "../..", version, t.Output())
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("version %q: error %v, want one with %q", version, err, want)
		}
	}
}

func TestReleaseMod(t *testing.T) {
	name := filepath.Join(t.TempDir(), "go.mod")
	write := func(text string) {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	const head = "module " + own + "/contrib/prometheus\n\ngo 1.26.0\n\n"
	write(head + "require (\n\t" + own + " v0.0.0\n\tk8s.io/api v0.37.2\n)\n\nreplace " + own + " => ../..\n")
	got, err := releaseMod(name, "v0.37.0")
	want := head + "require (\n\t" + own + " v0.37.0\n\tk8s.io/api v0.37.2\n)\n"
	if err != nil || string(got) != want {
		t.Errorf("error %v, go.mod\n%s\nwant\n%s", err, got, want)
	}
	write(head + "replace k8s.io/api => ../api\n")
	if _, err := releaseMod(name, "v0.37.0"); err == nil || !strings.Contains(err.Error(), name+":5: ") {
		t.Errorf("a release that replaces k8s.io/api: error %v, want one with the line", err)
	}
}
