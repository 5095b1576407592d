package crd_test

import (
	"go/token"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"golang.org/x/tools/txtar"

	"github.com/kubewright/kubewright/generators/internal/crd"
	"github.com/kubewright/kubewright/generators/internal/marker"
)

// FuzzRead checks that each problem has a position in the manifest, and that definitions without errors
// become types with unique Go names.
func FuzzRead(f *testing.F) {
	archives, err := filepath.Glob("../../testdata/*import*.txtar")
	if err != nil || len(archives) == 0 {
		f.Fatalf("no archives: %v", err)
	}
	for _, file := range archives {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			f.Fatal(err)
		}
		for _, source := range archive.Files {
			if ext := filepath.Ext(source.Name); ext == ".yaml" || ext == ".json" {
				f.Add(source.Data)
			}
		}
	}
	// A format that would end a line of a comment if it were copied.
	f.Add([]byte("apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n" +
		"metadata: {name: as.a.b}\nspec:\n" +
		"  group: a.b\n  scope: Cluster\n  names: {kind: A, plural: as}\n  versions:\n  - name: v1\n" +
		"    served: true\n    storage: true\n    schema: {openAPIV3Schema: {type: object, properties: {\n" +
		"      a: {type: string, format: \"a\\nb\"}}}}\n"))
	// A document without text.
	f.Add([]byte("---"))
	// Lists that contain themselves.
	f.Add([]byte("apiVersion: v1\nkind: List\nitems: &all [*all]\n"))
	f.Add([]byte("apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n" +
		"spec: {scope: &a [*a]}\n"))
	// Values that would end a comment, a string or a line, leave a folder, or take long.
	for _, seed := range []string{
		"description: \"*/\\n//go:build x\\r+genclient\\u2028\\v\"",
		"properties: {\"a`b\": {type: string}, \"c\\nd\": {type: string}, \"\\\"\": {type: string}}",
		"properties: {a: {type: string, format: \"x\\ny\", default: \"`\\n\", enum: [\"`\", \"\\n\"]}}",
		"properties: {a: {type: array, items: {type: object}, x-kubernetes-list-map-keys: [\"a\\nb\"]}}",
		"properties: {a: &a {type: object, description: &d \"" + strings.Repeat("x ", 500) +
			"\", properties: {b: {type: string, description: *d}}}, c: *a}",
		"properties: {" + strings.Repeat("a", 5000) + ": {type: object, properties: {a!: {type: string}," +
			" a#: {type: string}, a$: {type: string}}}}",
		"properties: {a: {type: " + strings.Repeat("[", 300) + strings.Repeat("]", 300) + "}}",
	} {
		for _, group := range []string{"shop.example.com", "../../x"} {
			f.Add([]byte("apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n" +
				"metadata: {name: as." + group + "}\nspec:\n  group: " + group +
				"\n  scope: Cluster\n  names: {kind: A, plural: \"as\", singular: \"a\\nb\"}\n  versions:\n" +
				"  - name: v1\n    served: true\n    storage: true\n    schema:\n" +
				"      openAPIV3Schema: {type: object, " + seed + "}\n"))
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		defs, problems := crd.Read([]crd.Source{{Name: "crd.yaml", Text: text}})
		checkPositions(t, text, problems)
		if problems.Fatal() {
			return
		}
		for _, wellKnown := range []bool{true, false} {
			types, problems := crd.Options{WellKnown: wellKnown}.Types(defs)
			checkPositions(t, text, problems)
			if !problems.Fatal() {
				checkNames(t, types)
				checkTags(t, types)
			}
		}
	})
}

func checkPositions(t *testing.T, text []byte, problems marker.Problems) {
	lines := 1
	for _, r := range string(text) {
		if strings.ContainsRune("\r\n\u0085\u2028\u2029", r) { // what ends a line in YAML
			lines++
		}
	}
	for _, p := range problems {
		if p.Pos.Filename != "crd.yaml" || p.Pos.Line < 1 || p.Pos.Line > lines || p.Pos.Column < 1 {
			t.Errorf("position %v in %d lines: %s", p.Pos, lines, p.Message)
		}
	}
}

func checkNames(t *testing.T, all []*crd.Types) {
	declared := map[string]bool{}
	declare := func(names map[string]bool, scope, name string) {
		if !token.IsIdentifier(name) || !token.IsExported(name) || names[scope+name] {
			t.Errorf("%s%s is no exported name, or given twice", scope, name)
		}
		names[scope+name] = true
	}
	for _, types := range all {
		scope := types.Group + "/" + types.Name + "."
		declare(declared, scope, types.Kind)
		declare(declared, scope, types.Kind+"List")
		checkFields(declare, types.Fields)
		checkComment(t, types.Doc)
		checkComment(t, types.ListDoc)
		for _, field := range types.Fields {
			checkComment(t, field.Doc)
		}
		for _, decl := range types.Decls {
			declare(declared, scope, decl.Name)
			checkComment(t, decl.Doc)
			for _, field := range decl.Fields {
				checkComment(t, field.Doc)
			}
			for _, c := range decl.Consts {
				declare(declared, scope, c.Name)
			}
			checkFields(declare, decl.Fields)
		}
	}
}

// checkComment checks that the lines of a comment have no line breaks or other control characters.
func checkComment(t *testing.T, lines []string) {
	for _, line := range lines {
		if strings.ContainsFunc(line, func(r rune) bool { return r != '\t' && unicode.IsControl(r) }) {
			t.Errorf("%q can't be a line of a comment", line)
		}
	}
}

// checkTags checks that tags don't end their string literals.
func checkTags(t *testing.T, all []*crd.Types) {
	check := func(fields []crd.Field) {
		for _, field := range fields {
			if strings.Trim(field.Tag, "`") != field.Tag[1:len(field.Tag)-1] || strings.Count(field.Tag, "`") != 2 ||
				strings.ContainsAny(field.Tag, "\n\r\x00") {
				t.Errorf("%q is no tag", field.Tag)
			}
		}
	}
	for _, types := range all {
		check(types.Fields)
		for _, decl := range types.Decls {
			check(decl.Fields)
		}
	}
}

func checkFields(declare func(map[string]bool, string, string), fields []crd.Field) {
	names := map[string]bool{}
	for _, field := range fields {
		declare(names, "field ", field.Name)
	}
}
