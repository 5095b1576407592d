package crds

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/kubewright/kubewright/generators/internal/crd"
	"github.com/kubewright/kubewright/internal/scratch"
)

// module is the path of the scratch module. It has the types twice: in plain those of
// --well-known-types=false, in known the others.
const module = "example.com/crds"

// objects is how many random objects of each version go through its types.
const objects = 50

// TestImport imports the definitions. The types must compile, and objects that go through them must come back
// unchanged, except for explicit nulls and empty optional lists and maps. Types of Kubernetes drop other zero
// values, too.
func TestImport(t *testing.T) {
	all := manifests(t, *modules, math.MaxInt)
	checkSources(t, all)
	s := scratch.ForTest(t, module, ".")
	run := func(name string, args ...string) {
		t.Helper()
		if _, err := s.Run(name, args...); err != nil {
			t.Fatal(err)
		}
	}
	writeManifests(t, s, all)
	run("go", "build", "-o", "bin/", "github.com/kubewright/kubewright/cmd/kubewright",
		"github.com/kubewright/kubewright/cmd/deepcopy-gen")
	run("bin/kubewright", "import", "--types-only", "manifests", "--apis-dir", "plain",
		"--well-known-types=false")
	run("bin/kubewright", "import", "--types-only", "manifests", "--apis-dir", "known")
	run("bin/deepcopy-gen", "--output-file", "zz_generated.deepcopy.go", "./plain/...", "./known/...")
	packages := importedPackages(t, s.Dir)
	if err := s.Write("main.go", program(all, packages)); err != nil {
		t.Fatal(err)
	}
	run("go", "build", "-o", "bin/through", ".")

	through := newThrough(t, s)
	for _, m := range all {
		for _, v := range m.def.Versions {
			t.Run(m.def.Plural+"."+m.def.Group+"/"+v.Name, func(t *testing.T) {
				checkObjects(t, through, packages, m.def, v)
			})
		}
	}
}

// writeManifests writes each definition to a file in the folder manifests.
func writeManifests(t *testing.T, s *scratch.Module, all []manifest) {
	for i, m := range all {
		if err := s.Write(fmt.Sprintf("manifests/%d.yaml", i), string(m.text)); err != nil {
			t.Fatal(err)
		}
	}
}

// checkSources checks that there are enough definitions, and from many projects if all are read.
func checkSources(t *testing.T, all []manifest) {
	counts := map[string]int{}
	versions := 0
	for _, m := range all {
		counts[m.module]++
		versions += len(m.def.Versions)
	}
	t.Logf("%d definitions with %d served versions in %d modules: %v", len(all), versions, len(counts), counts)
	if *modules > 0 {
		return
	}
	if len(all) < 150 || len(counts) < 10 {
		t.Errorf("only %d definitions in %d modules", len(all), len(counts))
	}
	for name, n := range counts {
		if n > len(all)/2 {
			t.Errorf("%d of the %d definitions are of %s", n, len(all), name)
		}
	}
}

// importedPackages returns the folders of types by flavour, group and version.
func importedPackages(t *testing.T, dir string) map[string]string {
	docs, err := filepath.Glob(filepath.Join(dir, "*", "*", "*", "doc.go"))
	if err != nil {
		t.Fatal(err)
	}
	packages := map[string]string{}
	for _, doc := range docs {
		text, err := os.ReadFile(doc)
		if err != nil {
			t.Fatal(err)
		}
		_, after, _ := strings.Cut(string(text), "+groupName=")
		group, _, _ := strings.Cut(after, "\n")
		folder, err := filepath.Rel(dir, filepath.Dir(doc))
		if err != nil {
			t.Fatal(err)
		}
		folder = filepath.ToSlash(folder)
		flavour, rest, _ := strings.Cut(folder, "/")
		_, version, _ := strings.Cut(rest, "/")
		packages[flavour+" "+group+"/"+version] = folder
	}
	return packages
}

// program returns a program that reads a type and an object per line, and writes a deep copy of the object.
func program(all []manifest, packages map[string]string) string {
	var b strings.Builder
	b.WriteString("package main\n\nimport (\n")
	names := map[string]string{}
	for i, folder := range slices.Sorted(maps.Values(packages)) {
		names[folder] = fmt.Sprintf("p%d", i)
		fmt.Fprintf(&b, "\t%s %q\n", names[folder], module+"/"+folder)
	}
	b.WriteString(`
	"bufio"
	"encoding/json"
	"os"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	k8sjson "sigs.k8s.io/json"
)

var types = map[string]func() runtime.Object{
`)
	for _, m := range all {
		for _, v := range m.def.Versions {
			for _, flavour := range []string{"plain", "known"} {
				folder := packages[flavour+" "+m.def.Group+"/"+v.Name]
				fmt.Fprintf(&b, "\t%q: func() runtime.Object { return &%s.%s{} },\n", folder+"."+m.def.Kind,
					names[folder], m.def.Kind)
			}
		}
	}
	b.WriteString(`}

func main() {
	in := bufio.NewReader(os.Stdin)
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return
		}
		name, text, _ := strings.Cut(line, " ")
		object := types[name]()
		if err := k8sjson.UnmarshalCaseSensitivePreserveInts([]byte(text), object); err != nil {
			os.Stdout.WriteString(err.Error() + "\n")
			continue
		}
		out, err := json.Marshal(object.DeepCopyObject())
		if err != nil {
			out = []byte(err.Error())
		}
		os.Stdout.Write(append(out, '\n'))
	}
}
`)
	return b.String()
}

// newThrough starts the program and returns a function that sends an object through a type.
func newThrough(t *testing.T, s *scratch.Module) func(typ string, object []byte) (string, error) {
	in, out := start(t, s.Command(filepath.Join(s.Dir, "bin", "through")))
	lines := bufio.NewReader(out)
	return func(typ string, object []byte) (string, error) {
		if _, err := fmt.Fprintf(in, "%s %s\n", typ, object); err != nil {
			return "", err
		}
		line, err := lines.ReadString('\n')
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return line, err
	}
}

func checkObjects(t *testing.T, through func(string, []byte) (string, error), packages map[string]string,
	d *crd.Definition, v *crd.Version) {
	for i := range objects {
		object := random{rand.New(rand.NewPCG(uint64(i), 1))}.object(d, v, 0)
		text, err := json.Marshal(object)
		if err != nil {
			t.Fatal(err)
		}
		for _, flavour := range []string{"plain", "known"} {
			line, err := through(packages[flavour+" "+d.Group+"/"+v.Name]+"."+d.Kind, text)
			if err != nil {
				t.Fatal(err)
			}
			var got any
			decoder := json.NewDecoder(strings.NewReader(line))
			decoder.UseNumber()
			if err := decoder.Decode(&got); err != nil {
				t.Fatalf("%s: %s, of %s", flavour, line, text)
			}
			var want any = object
			if flavour == "plain" {
				want, got = strict(v.Schema, want), strict(v.Schema, got)
			} else {
				want, got = nonZero(want), nonZero(withoutGains(got, want))
			}
			if path := difference(want, got); path != "" {
				t.Fatalf("%s: object %d differs in %s\nin:  %s\nout: %s", flavour, i, path, text, line)
			}
		}
	}
}

// difference returns the path at which two values differ, "" if they don't.
func difference(want, got any) string {
	if reflect.DeepEqual(want, got) {
		return ""
	}
	w, isObject := want.(map[string]any)
	g, too := got.(map[string]any)
	if isObject && too {
		keys := maps.Clone(w)
		maps.Copy(keys, g)
		for _, key := range slices.Sorted(maps.Keys(keys)) {
			if path := difference(w[key], g[key]); path != "" {
				return "." + key + path
			}
		}
	}
	if w, ok := want.([]any); ok {
		if g, ok := got.([]any); ok && len(w) == len(g) {
			for i := range w {
				if path := difference(w[i], g[i]); path != "" {
					return fmt.Sprintf("[%d]%s", i, path)
				}
			}
		}
	}
	return fmt.Sprintf(": %#v became %#v", want, got)
}
