package model

import (
	"bytes"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/kubewright/kubewright/generators/internal/marker"
)

// gorootPattern matches the go command's mention of its own folder.
var gorootPattern = regexp.MustCompile(`\([^()]*/src/[^()]*\)`)

var update = flag.Bool("update", false, "write the results into testdata/*.txtar")

// TestLoad runs the cases of testdata. In each, the section "args" holds the words of one run: patterns,
// "group/version=pattern" for what client-gen's --input gives, "for=clients" and so on,
// "include=group/version/Type", "lint=rule". "strict" and "lax" are the results for the command kubewright
// and for the compatible binaries: problems, then the API.
func TestLoad(t *testing.T) {
	cases, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(cases) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, name := range cases {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			t.Parallel()
			archive, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			dir := extract(t, archive)
			changed := false
			for i, section := range archive.Files {
				if section.Name != "strict" && section.Name != "lax" {
					continue
				}
				cfg := config(t, dir, archive)
				cfg.Strict = section.Name == "strict"
				got := run(t, cfg)
				if got == string(section.Data) {
					continue
				}
				if *update {
					archive.Files[i].Data, changed = []byte(got), true
					continue
				}
				t.Errorf("%s: got\n%s\nwant\n%s", section.Name, got, section.Data)
			}
			if changed {
				if err := os.WriteFile(name, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// extract writes the files of an archive to a temporary folder. Unless the archive has such methods, it adds
// those that make objects of the types.
func extract(t *testing.T, archive *txtar.Archive) string {
	t.Helper()
	dir := t.TempDir()
	files := archive.Files
	if !bytes.Contains(txtar.Format(archive), []byte("DeepCopyObject")) {
		files = slices.Concat(files, objects(archive.Files))
	}
	for _, f := range files {
		if f.Name == "args" || f.Name == "strict" || f.Name == "lax" {
			continue
		}
		name := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// objects returns a file for each folder with structs that declares the methods of objects, for all of them.
func objects(files []txtar.File) []txtar.File {
	methods := map[string]string{}
	for _, f := range files {
		syntax, err := parser.ParseFile(token.NewFileSet(), f.Name, f.Data, parser.SkipObjectResolution)
		if path.Ext(f.Name) != ".go" || strings.HasSuffix(f.Name, "_test.go") || err != nil {
			continue
		}
		name := path.Join(path.Dir(f.Name), "zz_objects.go")
		ast.Inspect(syntax, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok || spec.TypeParams != nil || spec.Assign.IsValid() {
				return true
			}
			if methods[name] == "" {
				methods[name] = "package " + syntax.Name.Name + "\n"
			}
			for _, method := range []string{"GetObjectKind", "GetListMeta", "DeepCopyObject"} {
				methods[name] += "func (in *" + spec.Name.Name + ") " + method + "() {}\n"
			}
			return false
		})
	}
	var added []txtar.File
	for name, text := range methods {
		added = append(added, txtar.File{Name: name, Data: []byte(text)})
	}
	return added
}

func config(t *testing.T, dir string, archive *txtar.Archive) Config {
	t.Helper()
	cfg := Config{Dir: dir, PluralExceptions: map[string]string{"Endpoints": "Endpoints"},
		IncludedTypes: map[string][]string{}}
	i := slices.IndexFunc(archive.Files, func(f txtar.File) bool { return f.Name == "args" })
	if i < 0 {
		t.Fatal("the case has no section args")
	}
	for _, word := range strings.Fields(string(archive.Files[i].Data)) {
		key, value, ok := strings.Cut(word, "=")
		switch {
		case !ok:
			cfg.Inputs = append(cfg.Inputs, Input{Pattern: word})
		case key == "dir":
			cfg.Dir = filepath.Join(dir, value)
		case key == "for":
			cfg.Generators |= map[string]Generators{"clients": Clients, "listers": Listers,
				"informers": Informers}[value]
		case key == "lint":
			cfg.LintRules = append(cfg.LintRules, value)
		case key == "include":
			i := strings.LastIndex(value, "/")
			cfg.IncludedTypes[value[:i]] = append(cfg.IncludedTypes[value[:i]], value[i+1:])
		default:
			group, version, _ := strings.Cut(key, "/")
			cfg.Inputs = append(cfg.Inputs,
				Input{Pattern: value, Explicit: true, Group: group, Version: version})
		}
	}
	return cfg
}

// run loads and prints the result, without the paths of the temporary folder and the Go root, which the go
// command's messages contain.
func run(t *testing.T, cfg Config) string {
	t.Helper()
	api, problems := Load(t.Context(), cfg)
	var b strings.Builder
	for _, p := range problems {
		fmt.Fprintln(&b, p)
	}
	if (api == nil) != problems.Fatal() {
		t.Errorf("api %v with fatal %v", api, problems.Fatal())
	}
	if api != nil {
		dump(&b, api)
	}
	text := strings.ReplaceAll(b.String(), cfg.Dir, "$DIR")
	return gorootPattern.ReplaceAllString(text, "($$GOROOT)")
}

func dump(b *strings.Builder, api *API) {
	for _, g := range api.Groups {
		fmt.Fprintf(b, "group %q folder %s package %s go %s\n", g.Name, g.PackageName, g.GoPackage, g.GoName)
		for _, v := range g.Versions {
			fmt.Fprintf(b, "  version %q %s folder %s group %s from %s%s\n", v.Name, v.GoName, v.PackageName,
				v.GoGroupName, v.Package.Path, words(map[string]bool{
					"internal": v.Internal, "no-client": !v.Package.Client, "no-lister": !v.Package.Lister,
					"no-informer":           !v.Package.Informer,
					"no-Resource":           !v.Package.HasResource,
					"no-SchemeGroupVersion": !v.Package.HasSchemeGroupVersion,
				}))
			for _, k := range v.Kinds {
				fmt.Fprintf(b, "    kind %s %s %s %s %s resource %s%s\n", k.Name, k.Private, k.Plural,
					k.PrivatePlural, k.Lower, k.Resource, words(map[string]bool{
						"cluster": !k.Namespaced, "no-verbs": k.NoVerbs, "status": k.HasStatus,
						"no-lister": !k.HasLister(), "no-informer": !k.HasInformer(),
					}))
				var missing []string
				for _, verb := range marker.Verbs() {
					if !k.Verb[verb.Name] {
						missing = append(missing, verb.Name)
					}
				}
				if len(missing) > 0 {
					fmt.Fprintf(b, "      without %s\n", strings.Join(missing, ", "))
				}
				if k.ObjectMeta.Path != "k8s.io/apimachinery/pkg/apis/meta/v1" {
					fmt.Fprintf(b, "      meta %+v\n", k.ObjectMeta)
				}
				for _, m := range k.Methods {
					fmt.Fprintf(b, "      method %s %s/%s %s -> %s\n", m.Name, m.Verb, m.Subresource,
						m.Input, m.Result)
				}
			}
		}
	}
}

// words lists the keys whose values are true.
func words(set map[string]bool) string {
	var list []string
	for word, on := range set {
		if on {
			list = append(list, word)
		}
	}
	slices.Sort(list)
	if len(list) == 0 {
		return ""
	}
	return " " + strings.Join(list, " ")
}
