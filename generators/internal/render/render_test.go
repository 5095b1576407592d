package render

import (
	"fmt"
	"go/format"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/fstest"
)

// renderText renders one file of the template text, in the package "example.com/own".
func renderText(t *testing.T, text string, data any, reserved ...string) string {
	t.Helper()
	packages := map[string]Package{
		"http":   {Path: "net/http"},
		"metav1": {Path: "k8s.io/apimachinery/pkg/apis/meta/v1"},
		"own":    {Path: "example.com/own"},
	}
	templates, err := Parse(fstest.MapFS{"t/t.tmpl": {Data: []byte(text)}}, packages)
	if err != nil {
		t.Fatal(err)
	}
	files, err := templates.Render([]File{{Path: "a.go", Package: "example.com/own", Header: "// Header.\n\n",
		Template: "t/t.tmpl", View: given(data), Reserved: reserved}})
	if err != nil {
		t.Fatal(err)
	}
	return string(files["a.go"])
}

func TestRender(t *testing.T) {
	view := struct {
		Client Ident
		Name   string
	}{Package{Path: "example.com/client", Alias: "theclient"}.Ident("Client"), "x"}
	for name, test := range map[string]struct{ text, want string }{
		"no imports": {
			"package own\n\nvar X int\n",
			"// Header.\n\npackage own\n\nvar X int\n",
		},
		"imports in two groups, sorted, from use": {
			"package own\n\nvar X {{metav1}}.Time\n\nvar Y {{http}}.Client\n\nvar {{.Name}} {{.Client}}\n",
			"// Header.\n\npackage own\n\nimport (\n\thttp \"net/http\"\n\n" +
				"\ttheclient \"example.com/client\"\n\tmetav1 \"k8s.io/apimachinery/pkg/apis/meta/v1\"\n)\n" +
				"\nvar X metav1.Time\n\nvar Y http.Client\n\nvar x theclient.Client\n",
		},
		"what is not printed is not imported": {
			"package own\n{{if false}}\nvar X {{metav1}}.Time\n{{end}}\nvar Y int\n",
			"// Header.\n\npackage own\n\nvar Y int\n",
		},
		"the package's own identifiers": {
			"package own\n\nvar X {{own}}.Y\n",
			"// Header.\n\npackage own\n\nvar X Y\n",
		},
		"reserved names": {
			"package own\n{{reserve \"http\" \"v1\"}}\nvar X {{http}}.Client\n",
			"// Header.\n\npackage own\n\nimport (\n\tnethttp \"net/http\"\n)\n\nvar X nethttp.Client\n",
		},
		"columns": {
			"package own\n\ntype T struct {\n\t*int\n\ta{{tab}}int\n\tlonger{{tab}}int\n\n\tb{{tab}}int\n}\n",
			"// Header.\n\npackage own\n\n" +
				"type T struct {\n\t*int\n\ta      int\n\tlonger int\n\n\tb int\n}\n",
		},
		"blank lines": {
			"package own\n\n\n\nvar X int\n\n\n\nvar Y int\n\n\n",
			"// Header.\n\npackage own\n\nvar X int\n\nvar Y int\n",
		},
		"a package comment": {
			"// Package own is ours.\npackage own\n",
			"// Header.\n\n// Package own is ours.\npackage own\n",
		},
	} {
		got := renderText(t, test.text, view)
		if got != test.want {
			t.Errorf("%s: got\n%s\nwant\n%s", name, got, test.want)
		}
		if formatted, err := format.Source([]byte(got)); err != nil || string(formatted) != got {
			t.Errorf("%s: gofmt changes it (%v):\n%s", name, err, formatted)
		}
	}
}

func TestReservedByFile(t *testing.T) {
	got := renderText(t, "package own\n\nvar X {{http}}.Client\n", nil, "http")
	if !strings.Contains(got, "var X nethttp.Client") {
		t.Error(got)
	}
}

func TestErrors(t *testing.T) {
	templates, err := Parse(fstest.MapFS{"t/t.tmpl": {Data: []byte("package p\n{{.Missing}}")}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for want, files := range map[string][]File{
		"no template": {{Path: "a.go", Template: "t/other.tmpl"}},
		"Missing":     {{Path: "a.go", Template: "t/t.tmpl", View: given(struct{}{})}},
		"two templates render": {
			{Path: "a.go", Template: "t/t.tmpl", View: given(map[string]int{"Missing": 1})},
			{Path: "a.go", Template: "t/t.tmpl", View: given(map[string]int{"Missing": 1})}},
	} {
		if _, err := templates.Render(files); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want an error with %q, got %v", want, err)
		}
	}
	if _, err := Parse(fstest.MapFS{"t/t.tmpl": {Data: []byte("{{nowhere}}")}}, nil); err == nil {
		t.Error("a template with an unknown function was parsed")
	}
}

func TestAliasFollowsFromPath(t *testing.T) {
	for path, want := range map[string]string{
		"context":                             "context",
		"net/http":                            "http",
		"k8s.io/api/batch/v1":                 "batchv1",
		"k8s.io/api/batch/v1beta2":            "batchv1beta2",
		"example.com/apis/cert-manager.io/v1": "certmanageriov1",
		"example.com/v1":                      "examplecomv1",
		"example.com/3scale":                  "scale",
		"example.com/types/string":            "typesstring",
		"example.com/go/type":                 "gotype",
		"example.com/wardle/internalversion":  "wardleinternalversion",
		"v1":                                  "v1",
		"example.com/---":                     "examplecom",
	} {
		got := aliases([]wish{{path, ""}}, map[string]bool{})
		if got[path] != want {
			t.Errorf("%s: got %s, want %s", path, got[path], want)
		}
	}
}

// TestAliasLaws checks that every import has a legal name, that no two share one, that none is taken, and
// that the order of the requests doesn't matter.
func TestAliasLaws(t *testing.T) {
	elements := []string{"a", "b-c", "bc", "v1", "v1beta1", "type", "string", "int", "internalversion", "9",
		"x.io", "client"}
	random := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		var wishes []wish
		for range random.IntN(8) {
			var path []string
			for range 1 + random.IntN(4) {
				path = append(path, elements[random.IntN(len(elements))])
			}
			alias := ""
			if random.IntN(3) == 0 {
				alias = elements[random.IntN(len(elements))]
			}
			wishes = append(wishes, wish{strings.Join(path, "/"), alias})
		}
		taken := func() map[string]bool { return map[string]bool{"bc": true, "client": true} }
		names := aliases(append([]wish(nil), wishes...), taken())
		owner := map[string]string{}
		for _, w := range wishes {
			name := names[w.path]
			if !legal(name) || taken()[name] {
				t.Fatalf("%v: %s is called %q", wishes, w.path, name)
			}
			if other, ok := owner[name]; ok && other != w.path {
				t.Fatalf("%v: %s and %s are both called %s", wishes, other, w.path, name)
			}
			owner[name] = w.path
		}
		random.Shuffle(len(wishes), func(i, j int) { wishes[i], wishes[j] = wishes[j], wishes[i] })
		if again := aliases(wishes, taken()); !maps.Equal(names, again) {
			t.Fatalf("the order matters: %v, %v", names, again)
		}
	}
}

func TestManyFiles(t *testing.T) {
	templates, err := Parse(fstest.MapFS{"t/t.tmpl": {Data: []byte("package p\n\nconst N = {{.}}\n")}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var files []File
	for i := range 500 {
		files = append(files, File{Path: fmt.Sprint(i, ".go"), Template: "t/t.tmpl", View: given(i)})
	}
	contents, err := templates.Render(files)
	if err != nil || len(contents) != len(files) {
		t.Fatal(len(contents), err)
	}
	for i := range files {
		if want := fmt.Sprintf("package p\n\nconst N = %d\n", i); string(contents[files[i].Path]) != want {
			t.Fatalf("file %d is\n%s", i, contents[files[i].Path])
		}
	}
}

func given(data any) func() any { return func() any { return data } }
