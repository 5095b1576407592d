package pages

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

const page = "# Top\n\nRun `make test`, or:\n\n" +
	"```sh\nmkdir a && cd a # a folder\necho one \\\n    two\n```\n\n" +
	"## Next\n\nA file, `x.go`:\n\n```go\npackage x\n```\n\n" +
	"    indented\n    more\n\n- a list\n    goes on\n\n" +
	"`y.sh`:\n\n```sh\n#!/bin/sh\necho ran\n```\n"

func TestBlocks(t *testing.T) {
	p := Page{"p.md", page}
	want := []Block{
		{"Top", 5, "sh", "mkdir a && cd a # a folder\necho one \\\n    two\n", ""},
		{"Next", 15, "go", "package x\n", "x.go"},
		{"Next", 19, "", "    indented\n    more\n", "x.go"},
		{"Next", 27, "sh", "#!/bin/sh\necho ran\n", "y.sh"},
	}
	got := p.Blocks()
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("got\n%+v\nwant\n%+v", got, want)
	}
	if c := got[0].Commands(); !reflect.DeepEqual(c, []string{"mkdir a && cd a", "echo one two"}) {
		t.Errorf("commands %q", c)
	}
	if got[0].IsScript() || !got[3].IsScript() || got[3].Commands() != nil {
		t.Error("the last block, and no other, must be a script")
	}
	if c := p.Code(); !reflect.DeepEqual(c, map[int][]string{3: {"make test"}, 13: {"x.go"}, 25: {"y.sh"}}) {
		t.Errorf("code %v", c)
	}
}

// TestReader follows a page into the folder that it makes.
func TestReader(t *testing.T) {
	dir := t.TempDir()
	r := &Reader{Dir: dir, Skip: func(command string) bool { return command == "never" }}
	all := Page{"p.md", page}.Blocks()
	all[3].File = "./y.sh"
	if err := r.Follow(t.Context(), append(all, Block{Language: "sh", Text: "never\n"})); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "a", "x.go"))
	if string(text) != "package x\n" || err != nil {
		t.Errorf("%q, %v", text, err)
	}
	if r.Output != "one two\nran\n" || r.Commands != 4 {
		t.Errorf("%d commands print %q", r.Commands, r.Output)
	}
	err = r.Follow(t.Context(), []Block{{Line: 7, Language: "sh", Text: "echo why >&2; false\ntrue\n"}})
	for _, want := range []string{"line 7", "false", "why"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
}

func TestWrite(t *testing.T) {
	r := &Reader{Dir: t.TempDir()}
	const old = "package x\n\n// A is a.\ntype A struct {\n\tB int\n}\n\ntype C struct{}\n"
	for _, test := range []struct{ text, want, err string }{
		{old, old, ""},
		{"// A has more.\ntype A struct {\n\tB string\n}\n", strings.Replace(old,
			"// A is a.\ntype A struct {\n\tB int", "// A has more.\ntype A struct {\n\tB string", 1), ""},
		{"type C struct{}\n", "", ""},
		{"type D struct{}\n", "", "no struct to replace"},
	} {
		err := r.Write("sub/x.go", test.text)
		if (err == nil) != (test.err == "") || err != nil && !strings.Contains(err.Error(), test.err) {
			t.Errorf("%q: error %v, want %q", test.text, err, test.err)
		}
		got, err := os.ReadFile(filepath.Join(r.Dir, "sub/x.go"))
		if err != nil || test.want != "" && string(got) != test.want {
			t.Errorf("%q: %q, %v", test.text, got, err)
		}
	}
	if err := r.Write("", "x"); err == nil {
		t.Error("a block that names no file is written")
	}
}

// TestSection finds a section by its heading.
func TestSection(t *testing.T) {
	if blocks, err := Section("../..", "docs/first-api.md", "Your own API"); len(blocks) < 5 || err != nil {
		t.Errorf("%d blocks, %v", len(blocks), err)
	}
	for page, section := range map[string]string{"README.md": "No such section", "NONE.md": "Your own API"} {
		if blocks, err := Section("../..", page, section); err == nil {
			t.Errorf("%s has %d blocks in %q", page, len(blocks), section)
		}
	}
}

// TestTracked finds the pages of this repository.
func TestTracked(t *testing.T) {
	all, err := Tracked("../..")
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]int{}
	for _, p := range all {
		found[p.Name] = len(p.Blocks())
	}
	if found["docs/first-api.md"] < 10 || found["README.md"] < 3 || found["docs/testing.md"] < 2 ||
		len(found) < 15 {
		t.Errorf("pages and their blocks: %v", found)
	}
}
