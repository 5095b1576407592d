package generators_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubewright/kubewright/internal/scratch"
)

var copies = flag.Int("copies", 60, "how many random types TestCopies makes deep copies of")

// TestCopies generates deep copies for random types with kubebuilder's markers, and runs a program that
// copies random objects of them: copies are deeply equal and share no memory. To try more of them:
//
//	go test ./generators -run TestCopies -copies 2000
func TestCopies(t *testing.T) {
	t.Parallel()
	dir := scratch.FixedForTest(t)
	program, err := os.ReadFile("testdata/copies/main.go.txt")
	if err != nil {
		t.Fatal(err)
	}
	source, names := randomTypes(*copies)
	for name, text := range map[string]string{
		"go.mod":                       "module " + checkedModule + "\n\ngo 1.26\n",
		"apis/shop/v1/types.go":        source,
		"apis/shop/v1/shared/types.go": sharedTypes,
		"apis/shop/v1/shared/doc.go":   "// +k8s:deepcopy-gen=package\npackage shared\n",
		"apis/shop/v1/groupversion.go": "// Package v1 has random types.\n" +
			"// +kubebuilder:object:generate=true\npackage v1\n",
		"main.go": string(program),
		"names.go": "package main\n\nimport v1 \"" + checkedModule + "/apis/shop/v1\"\n\nvar types = []any{" +
			names + "}\n",
		"apis/shop/v1/unmarked/types.go": "package unmarked\n\ntype None struct{ List []string }\n",
	} {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	generate := exec.Command(filepath.Join(buildCommands(t), "kubewright"), "generate", "./apis/...")
	generate.Dir = dir
	generate.Env = append(os.Environ(), "PWD="+dir, "GOWORK=off", "GOFLAGS=", "GOPROXY=off")
	if out, err := generate.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if _, err := os.Stat(filepath.Join(dir, "apis/shop/v1/unmarked/zz_generated.deepcopy.go")); err == nil {
		t.Error("a package without markers has deep copies")
	}
	m, err := scratch.New(dir, checkedModule, "..")
	if err != nil {
		t.Fatal(err)
	}
	out, err := m.Run("go", "run", ".")
	if err != nil {
		t.Fatalf("%v\n%s", err, source)
	}
	want := fmt.Sprintf("%d types, ", *copies)
	if !strings.Contains(out, want) {
		t.Errorf("the program printed %q, not %q", out, want)
	}
}

// sharedTypes are types of another package.
const sharedTypes = `package shared

type Deep struct{ List []string }

type Flat struct{ A, B int }

type List []Deep

type Name string
`

// randomTypes returns a file with n random types, T0 and so on, and pointers to all of them as Go source.
func randomTypes(n int) (source, pointers string) {
	r := rand.New(rand.NewPCG(1, 1))
	var b strings.Builder
	b.WriteString("package v1\n\nimport (\n\t\"k8s.io/apimachinery/pkg/api/resource\"\n" +
		"\tmetav1 \"k8s.io/apimachinery/pkg/apis/meta/v1\"\n\t\"k8s.io/apimachinery/pkg/util/intstr\"\n\n\t\"" +
		checkedModule + "/apis/shop/v1/shared\"\n)\n\nvar (\n\t_ resource.Quantity\n\t_ metav1.Time\n" +
		"\t_ intstr.IntOrString\n\t_ shared.Flat\n)\n")
	for i := range n {
		switch form := r.IntN(8); {
		case form == 0:
			fmt.Fprintf(&b, "\ntype T%d []%s\n", i, randomType(r, i, 2))
		case form == 1:
			fmt.Fprintf(&b, "\ntype T%d map[string]%s\n", i, randomType(r, i, 2))
		default:
			root, meta := "", ""
			if form == 2 {
				root, meta = "// +kubebuilder:object:root=true\n", "\tmetav1.TypeMeta\n\tmetav1.ObjectMeta\n"
			}
			fmt.Fprintf(&b, "\n%stype T%d struct {\n%s", root, i, meta)
			for f := range 1 + r.IntN(6) {
				fmt.Fprintf(&b, "\tF%d %s\n", f, randomType(r, i, 3))
			}
			b.WriteString("}\n")
		}
		pointers += fmt.Sprintf("new(v1.T%d), ", i)
	}
	return b.String(), strings.TrimSuffix(pointers, ", ")
}

// randomType returns a type as source. It refers to types before the i-th, and to those from there on only
// by pointers, since a struct can't contain itself.
func randomType(r *rand.Rand, i, depth int) string {
	leaves := []string{"string", "int32", "bool", "[]byte", "float64", "[2]int", "struct{}", "metav1.Time",
		"metav1.Duration", "resource.Quantity", "intstr.IntOrString", "metav1.LabelSelector", "metav1.Condition",
		"metav1.OwnerReference", "metav1.FieldsV1", "shared.Deep", "shared.Flat", "shared.List", "shared.Name"}
	if i > 0 && r.IntN(2) == 0 {
		return fmt.Sprintf("T%d", r.IntN(i))
	}
	if depth == 0 || r.IntN(3) == 0 {
		return leaves[r.IntN(len(leaves))]
	}
	switch r.IntN(5) {
	case 0:
		return "[]" + randomType(r, i, depth-1)
	case 1:
		return "map[" + []string{"string", "int", "shared.Name", "shared.Flat"}[r.IntN(4)] + "]" +
			randomType(r, i, depth-1)
	case 2:
		return fmt.Sprintf("*T%d", r.IntN(i+1))
	case 3:
		return "*" + randomType(r, i, depth-1)
	}
	return "[3]" + []string{"int", "string", "shared.Flat", "bool"}[r.IntN(4)]
}
