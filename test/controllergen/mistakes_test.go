package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"
	"sigs.k8s.io/controller-tools/pkg/crd"
	"sigs.k8s.io/controller-tools/pkg/genall"
	"sigs.k8s.io/controller-tools/pkg/loader"

	"github.com/kubewright/kubewright/generators"
)

// mistakes are the fields, types and markers of kinds with one mistake each. The mistake is at §. Lines that
// begin with ^ are above the kind, those with $ below it, and those with > above the package clause.
var mistakes = []string{
	"// §+kubebuilder:validation:MaxLenght=3\nA string `json:\"a\"`",
	"// +kubebuilder:validation:MaxLength=§x\nA string `json:\"a\"`",
	"// §+kubebuilder:validation:MaxLength=3\nA int `json:\"a\"`",
	"// §+kubebuilder:validation:Minimum=3\nA string `json:\"a\"`",
	"// §+kubebuilder:validation:Minimum=1.5\nA int `json:\"a\"`",
	"// +kubebuilder:validation:Minimum=§abc\nA int `json:\"a\"`",
	"// §+kubebuilder:validation:MaxItems=3\nA string `json:\"a\"`",
	"// §+kubebuilder:validation:MinProperties=3\nA string `json:\"a\"`",
	"// §+kubebuilder:validation:UniqueItems:true\nA []string `json:\"a\"`",
	"// §+kubebuilder:validation:UniqueItems=true\nA []string `json:\"a\"`",
	"// §+kubebuilder:validation:Optionals\nA string `json:\"a,omitempty\"`",
	"// §+kubebuilder:validation:OneOf=x\nA string `json:\"a,omitempty\"`",
	"// §+optinal\nA string `json:\"a,omitempty\"`",
	"// §+kubebuilder:Default:=x\nA string `json:\"a,omitempty\"`",
	"// §+kubebuilder:default=5\nA string `json:\"a,omitempty\"`",
	"// §+kubebuilder:default={a: 1}\nA []string `json:\"a,omitempty\"`",
	"// +kubebuilder:validation:Enum=a;b\n// §+kubebuilder:default=c\nA string `json:\"a,omitempty\"`",
	"// +kubebuilder:validation:MaxLength=1\n// §+default=\"long\"\nA string `json:\"a,omitempty\"`",
	"// +default=§{x\nA string `json:\"a,omitempty\"`",
	"// §+kubebuilder:validation:Pattern=`(`\nA string `json:\"a\"`",
	"// §+listType=sett\nA []string `json:\"a\"`",
	"// §+listMapKey=name\nA []string `json:\"a\"`",
	"// +listType=map\n// +listMapKey=name\n§A []Item `json:\"a\"`\n$type Item struct {\n" +
		"$\tNam string `json:\"nam\"`\n$}",
	"// §+listType=set\nA string `json:\"a\"`",
	"// §+mapType=atomic\nA string `json:\"a\"`",
	"// §+k8s:enum\nA string `json:\"a\"`",
	"// §+kubebuilder:subresource:status\nA string `json:\"a\"`",
	"// +kubebuilder:validation:XValidation:§rul=\"self > 1\"\nA int `json:\"a\"`",
	"// +kubebuilder:validation:XValidation:rule=\"self > 1\",§mesage=\"x\"\nA int `json:\"a\"`",
	"// §+kubebuilder:validation:XValidation:rule=\"self > 1\",reason=Wrong\nA int `json:\"a\"`",
	"// §+kubebuilder:validation:XValidation:rule=\"\"\nA int `json:\"a\"`",
	"// §+kubebuilder:validation:XValidation:rule=\"self.b\",fieldPath=\".c\"\nA Item `json:\"a\"`\n" +
		"$type Item struct {\n$\tB bool `json:\"b\"`\n$}",
	"// §+kubebuilder:validation:items:MaxLength=3\nA string `json:\"a\"`",
	"// §+kubebuilder:validation:items:MaxLength=3\nA []int `json:\"a\"`",
	"§A float64 `json:\"a\"`",
	"§A any `json:\"a\"`",
	"§A struct{} `json:\"a\"`",
	"§A string",
	"§A Item `json:\",inline\"`\n$type Item struct {\n$\tB bool `json:\"b\"`\n$}",
	"§A map[int]string `json:\"a\"`",
	"A Tree `json:\"a\"`\n$type Tree struct {\n$\t§Left *Tree `json:\"left,omitempty\"`\n$}",
	"§A interface{ F() } `json:\"a\"`",
	"A string `json:\"a\"`\n^// §+optional",
	"A string `json:\"a\"`\n^// +kubebuilder:resource:§paht=things",
	"A string `json:\"a\"`\n^// §+kubebuilder:resource:path=Things",
	"A string `json:\"a\"`\n^// §+kubebuilder:resource:path=../things",
	"A string `json:\"a\"`\n^// §+kubebuilder:resource:scope=Everywhere",
	"A string `json:\"a\"`\n^// §+kubebuilder:printcolumn:name=A,type=text,JSONPath=.a",
	"A string `json:\"a\"`\n^// §+kubebuilder:printcolumn:name=A,type=string,JSONPath=a",
	"A string `json:\"a\"`\n^// §+kubebuilder:selectablefield:JSONPath=.b",
	"A string `json:\"a\"`\n^// §+kubebuilder:subresource:scale:specpath=.a,statuspath=.status.b",
	"A string `json:\"a\"`\n^// §+kubebuilder:metadata:annotations=\"a\"",
	"A string `json:\"a\"`\n^// §+kubebuilder:validation:ExactlyOneOf=a.b;c",
	"§A string `json:\"a\"`\nB string `json:\"b,omitempty\"`\n^// +kubebuilder:validation:ExactlyOneOf=a;b",
	"A string `json:\"a\"`\n^// §+kubebuilder:unservedversion",
	"A string `json:\"a\"`\n>// §+kubebuilder:validation:Requiredd",
	"A T `json:\"a\"`\n$\n$// §+k8s:enum\n$type T string",
	"A T `json:\"a\"`\n$\n$// §+kubebuilder:validation:MaxLength=3\n$type T int",
}

// mistakeSource returns a package with a mistake, and the line and the column at which it is.
func mistakeSource(i int) (text string, line, column int) {
	var fields, kind, below, above []string
	for part := range strings.SplitSeq(mistakes[i], "\n") {
		switch part[0] {
		case '^':
			kind = append(kind, part[1:])
		case '$':
			below = append(below, part[1:])
		case '>':
			above = append(above, part[1:])
		default:
			fields = append(fields, "\t"+part)
		}
	}
	text = strings.Join(above, "\n") + fmt.Sprintf("\n// +groupName=m%d.example.com\npackage v1\n\n"+
		"import metav1 \"k8s.io/apimachinery/pkg/apis/meta/v1\"\n\n// Thing is a kind.\n", i) +
		strings.Join(kind, "\n") + "\ntype Thing struct {\n\tmetav1.TypeMeta `json:\",inline\"`\n" +
		"\tmetav1.ObjectMeta `json:\"metadata,omitempty\"`\n" + strings.Join(fields, "\n") + "\n}\n\n" +
		strings.Join(below, "\n") + "\n"
	text = strings.ReplaceAll(text, "kind.\n\ntype", "kind.\ntype")
	before, _, _ := strings.Cut(text, "§")
	line = strings.Count(before, "\n") + 1
	return strings.Replace(text, "§", "", 1), line, len(before) - strings.LastIndex(before, "\n")
}

// TestMistakes checks that each mistake is one error, at its place. It prints how many of them controller-gen
// reports in the right line.
func TestMistakes(t *testing.T) {
	dir := t.TempDir()
	writeModule(t, dir)
	for i := range mistakes {
		text, _, _ := mistakeSource(i)
		write(t, filepath.Join(dir, fmt.Sprintf("m%d", i), "v1", "types.go"), text)
	}
	right, silent := theirMistakes(t, dir)
	t.Logf("%d mistakes, of which controller-gen reports %d in the right line, and %d not at all", len(mistakes),
		right, silent)
	t.Chdir(dir)
	for i, mistake := range mistakes {
		_, line, column := mistakeSource(i)
		cfg := generators.Config{Strict: true,
			Inputs: []generators.Input{{Pattern: fmt.Sprintf("./m%d/v1", i)}}}
		all, problems, err := generators.Definitions(context.Background(), cfg)
		want := fmt.Sprintf("m%d/v1/types.go:%d:%d: ", i, line, column)
		if err != nil || len(all) > 0 || len(problems) != 1 || !strings.HasPrefix(problems[0].String(), want) ||
			problems[0].Warning {
			t.Errorf("%s\nwant one error at %s, got %v\n%v", mistake, want, err, problems)
		}
	}
}

// theirMistakes counts the mistakes that controller-gen reports in the right line, and those that it doesn't
// report.
func theirMistakes(t *testing.T, dir string) (right, silent int) {
	t.Helper()
	yes := true
	var gen genall.Generator = crd.Generator{IgnoreUnexportedFields: &yes}
	rt, err := genall.Generators{&gen}.ForRootsWithConfig(&packages.Config{Dir: dir}, "./...")
	if err != nil {
		t.Fatal(err)
	}
	rt.ErrorWriter = io.Discard
	rt.Run()
	roots := map[string]*loader.Package{}
	for _, root := range rt.Roots {
		roots[root.PkgPath] = root
	}
	for i := range mistakes {
		_, line, _ := mistakeSource(i)
		found, reported := false, false
		for _, e := range roots[fmt.Sprintf("corpus.example/random/m%d/v1", i)].Errors {
			reported = reported || e.Kind != packages.TypeError
			found = found || strings.Contains(e.Pos, fmt.Sprintf("types.go:%d:", line))
		}
		if found {
			right++
		}
		if !reported {
			silent++
		}
	}
	return right, silent
}
