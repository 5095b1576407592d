package generators

import (
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	smd "sigs.k8s.io/structured-merge-diff/v6/schema"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
)

// TestDerivedSchemaIsClientGos checks that the schema derived from the Go types of k8s.io/api equals that of
// client-go's own apply configurations, which comes from OpenAPI. Unions are left out: structured-merge-diff
// ignores them.
func TestDerivedSchemaIsClientGos(t *testing.T) {
	out, err := exec.Command("go", "list", "-f", "{{.Dir}}",
		"k8s.io/client-go/applyconfigurations/internal").Output()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(out)), "internal.go"))
	if err != nil {
		t.Fatal(err)
	}
	_, yaml, _ := strings.Cut(string(text), "`")
	yaml, _, _ = strings.Cut(yaml, "`")
	want := parseSchema(t, yaml)

	api, err := kubernetes()
	if err != nil {
		t.Fatal(err)
	}
	gen, err := newApplyGen(*everything().Apply, api)
	if err != nil {
		t.Fatal(err)
	}
	got := parseSchema(t, gen.schema.YAML())
	if len(want) < 900 {
		t.Errorf("client-go has only %d types", len(want))
	}
	for name, w := range want {
		g, ok := got[name]
		if !ok {
			t.Errorf("%s is missing", name)
			continue
		}
		if w.Map != nil {
			w.Map.Unions = nil
		}
		if !reflect.DeepEqual(g.Atom, w.Atom) { // structured-merge-diff's Equals compares some pointers
			t.Errorf("%s differs", name)
		}
	}
}

func parseSchema(t *testing.T, yaml string) map[string]smd.TypeDef {
	t.Helper()
	parser, err := typed.NewParser(typed.YAMLObject(yaml))
	if err != nil {
		t.Fatal(err)
	}
	types := map[string]smd.TypeDef{}
	for _, def := range parser.Schema.Types {
		types[def.Name] = def
	}
	return types
}
