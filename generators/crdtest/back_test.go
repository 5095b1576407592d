package crds

import (
	"encoding/json"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"sigs.k8s.io/yaml"

	"github.com/kubewright/kubewright/generators"
	"github.com/kubewright/kubewright/internal/scratch"
)

// TestBack makes definitions of imported types. They have to validate, prune and default as those that were
// imported, except for what docs/import.md lists, and importing them has to give the same types.
func TestBack(t *testing.T) {
	var all []manifest
	if *crdsDir == "" {
		all = manifests(t, *modules, math.MaxInt)
	} else {
		all = manifestsOf(t, *crdsDir, made(t, *crdsDir), map[string]bool{}, math.MaxInt)
	}
	s := scratch.ForTest(t, module, ".")
	writeManifests(t, s, all)
	s.MustRun(t, "go", "build", "-o", "bin/", "github.com/kubewright/kubewright/cmd/kubewright")
	t.Chdir(s.Dir)
	for _, flavour := range []string{"plain", "known"} {
		importTypes := func(manifests, dir string) {
			s.MustRun(t, "bin/kubewright", "import", "--types-only", manifests, "--apis-dir", dir,
				"--well-known-types="+map[string]string{"plain": "false", "known": "true"}[flavour])
		}
		importTypes("manifests", flavour)
		types := typeFiles(t, flavour)
		back := definitionsOf(t, flavour)
		if flavour == "plain" {
			compareWith(t, all, back)
		}
		for _, d := range back {
			s.MustWrite(t, flavour+"made/"+d.File, string(d.Text))
		}
		importTypes(flavour+"made", flavour+"again")
		for file, text := range typeFiles(t, flavour+"again") {
			before, after := strings.Split(types[file], "\n"), strings.Split(text, "\n")
			if flavour == "known" { // the comments of types of Kubernetes are descriptions, where there are none
				before, after = slices.DeleteFunc(before, isText), slices.DeleteFunc(after, isText)
			}
			for i := range before {
				if i == len(after) || before[i] != after[i] {
					t.Errorf("%s/%s: %s\nis after the way back %s", flavour, file, before[i],
						after[min(i, len(after)-1)])
					break
				}
			}
			delete(types, file)
		}
		if len(types) > 0 {
			t.Errorf("%s: %d files are not there after the way back", flavour, len(types))
		}
	}
}

// made returns the definitions that controller-gen has made, without those that have no group. It adds the
// approval that servers demand of Kubernetes' own groups.
func made(t *testing.T, dir string) (texts [][]byte) {
	metadata := regexp.MustCompile(`(?m)^metadata:\n(  annotations:\n)?`)
	for _, text := range documents(t, dir) {
		if !strings.Contains(string(text), "api-approved.kubernetes.io:") {
			text = metadata.ReplaceAll(text, []byte("metadata:\n  annotations:\n"+
				"    api-approved.kubernetes.io: unapproved\n"))
		}
		if !strings.Contains(string(text), "\n  group: \"\"\n") {
			texts = append(texts, text)
		}
	}
	return texts
}

// isText reports whether a line is a comment and no marker.
func isText(line string) bool {
	text, ok := strings.CutPrefix(strings.TrimSpace(line), "//")
	return ok && !strings.HasPrefix(text, " +")
}

// typeFiles returns the files of types in a folder.
func typeFiles(t *testing.T, dir string) map[string]string {
	paths, err := filepath.Glob(filepath.Join(dir, "*", "*", "*.go"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no types in %s: %v", dir, err)
	}
	files := map[string]string{}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			t.Fatal(err)
		}
		files[name] = string(text)
	}
	return files
}

// definitionsOf makes the definitions of imported types, whose packages are left out as long as they have
// the marker for that.
func definitionsOf(t *testing.T, dir string) []generators.Definition {
	for name, text := range typeFiles(t, dir) {
		if filepath.Base(name) == "doc.go" {
			text = strings.Replace(text, "// +kubebuilder:skip\n", "", 1)
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	made, problems, err := generators.Definitions(t.Context(), generators.Config{Strict: true,
		Inputs: []generators.Input{{Pattern: "./" + dir + "/..."}},
		Definitions: &generators.DefinitionOptions{MaxDescription: -1, AllowFloats: true,
			EmbeddedMetadata: true}})
	if err != nil || len(problems) > 0 {
		t.Errorf("%v %v", problems, err)
	}
	return made
}

// compareWith compares the schemas of made definitions with the imported ones, and what they do with objects.
func compareWith(t *testing.T, all []manifest, back []generators.Definition) {
	texts := map[string][]byte{}
	for _, d := range back {
		texts[d.Group+" "+d.Kind] = d.Text
	}
	e := exceptions{}
	same, versions, described := 0, 0, 0
	for _, m := range all {
		name := m.def.Group + " " + m.def.Kind
		want, got := schemasOf(t, m.text), schemasOf(t, texts[name])
		for _, v := range m.def.Versions {
			versions++
			want, got := want[v.Name], got[v.Name]
			if got == nil {
				t.Errorf("%s: no version %s comes back", name, v.Name)
				continue
			}
			own := *want
			own.Properties = maps.Clone(want.Properties)
			maps.DeleteFunc(own.Properties, func(name string, _ apiextensionsv1.JSONSchemaProps) bool {
				return slices.Contains([]string{"apiVersion", "kind", "metadata"}, name) // not import's
			})
			described += descriptions(t, name+" "+v.Name, &own, got)
			found := exceptions{}
			listed := want.DeepCopy()
			found.root(listed)
			normal(listed)
			plainGot := got.DeepCopy()
			normal(plainGot)
			if path := difference(jsonOf(t, listed), jsonOf(t, plainGot)); path != "" {
				t.Errorf("%s %s: %s", name, v.Name, path)
				continue
			}
			if len(found) == 0 {
				same++
				listed = want
			}
			for reason := range found {
				e[reason]++
			}
			one, other := newServer(t, listed), newServer(t, got)
			for i := range objects {
				r := random{rand.New(rand.NewPCG(uint64(i), 2))}
				text, err := json.Marshal(r.spoilt(r.object(m.def, v, 0), i%5))
				if err != nil {
					t.Fatal(err)
				}
				if want, got := one.answer(t, text), other.answer(t, text); want != got {
					t.Errorf("%s %s: of %s\nthe imported definition makes %s\nand the other %s", name, v.Name, text,
						want, got)
					break
				}
			}
		}
	}
	t.Logf("%d definitions; %d descriptions come back, and %d of %d versions without an exception, the others "+
		"by exception: %v", len(all), described, same, versions, e)
}

// schemasOf returns the schemas of a definition by version.
func schemasOf(t *testing.T, text []byte) map[string]*apiextensionsv1.JSONSchemaProps {
	var d apiextensionsv1.CustomResourceDefinition
	if err := yaml.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	schemas := map[string]*apiextensionsv1.JSONSchemaProps{}
	for _, v := range d.Spec.Versions {
		schemas[v.Name] = v.Schema.OpenAPIV3Schema
	}
	return schemas
}

// jsonOf returns a schema as JSON has it.
func jsonOf(t *testing.T, s *apiextensionsv1.JSONSchemaProps) (v any) {
	text, err := json.Marshal(s)
	if err == nil {
		err = json.Unmarshal(text, &v)
	}
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// server does with objects what an API server does by a schema.
type server struct {
	structural *structuralschema.Structural
	validator  validation.SchemaValidator
}

func newServer(t *testing.T, s *apiextensionsv1.JSONSchemaProps) server {
	var props apiextensions.JSONSchemaProps
	err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(s, &props, nil)
	if err != nil {
		t.Fatal(err)
	}
	structural, err := structuralschema.NewStructural(&props)
	if err != nil {
		t.Fatal(err)
	}
	validator, _, err := validation.NewSchemaValidator(&props)
	if err != nil {
		t.Fatal(err)
	}
	return server{structural, validator}
}

// answer returns the pruned and defaulted object, followed by what is wrong with it.
func (s server) answer(t *testing.T, text []byte) string {
	var object map[string]any
	if err := json.Unmarshal(text, &object); err != nil {
		t.Fatal(err)
	}
	pruning.Prune(object, s.structural, true)
	defaulting.PruneNonNullableNullsWithoutDefaults(object, s.structural)
	defaulting.Default(object, s.structural)
	problems := validation.ValidateCustomResource(nil, object, s.validator)
	problems = append(problems, listtype.ValidateListSetsAndMaps(nil, s.structural, object)...)
	lines := []string{}
	for _, problem := range problems { // the messages name formats
		if problem.Field != "<nil>" { // that of an anyOf, beside what is wrong inside
			lines = append(lines, problem.Field+" "+string(problem.Type))
		}
	}
	slices.Sort(lines)
	out, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	return string(out) + "\n" + strings.Join(slices.Compact(lines), "\n")
}

// spoilt returns a value in which often parts are others, or have an unknown field.
func (r random) spoilt(v any, often int) any {
	switch v := v.(type) {
	case map[string]any:
		for key, item := range v {
			switch {
			case slices.Contains([]string{"apiVersion", "kind", "metadata"}, key): // servers have checked them
			case r.IntN(40) < often:
				v[key] = r.any()
			case r.IntN(40) < often:
				delete(v, key)
			default:
				v[key] = r.spoilt(item, often)
			}
		}
		if r.IntN(20) < often {
			v["unknownToAll"] = r.any()
		}
	case []any:
		for i := range v {
			v[i] = r.spoilt(v[i], often)
		}
		if len(v) > 0 && r.IntN(20) < often {
			return append(v, v[0])
		}
	}
	return v
}
