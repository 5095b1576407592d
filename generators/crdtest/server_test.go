package crds

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/kubewright/kubewright/envtest/apiserver"
	"github.com/kubewright/kubewright/generators/internal/crd"
	"github.com/kubewright/kubewright/internal/scratch"
)

// onServer is how many definitions TestServer installs: fromEach of each of the first fromModules modules at
// most.
const (
	onServer    = 30
	fromModules = 7
	fromEach    = 6
)

// attempts is how many random objects are tried until the server accepts one. It also checks what they don't
// heed, such as formats, oneOf, and the keys of lists. Later objects have fewer fields.
const attempts = 100

// TestServer imports definitions and installs them, without their CEL rules, on an API server. Clients
// generated from the types create an object of each kind there. A list must return it unchanged, except for
// defaults.
func TestServer(t *testing.T) {
	all := manifests(t, fromModules, fromEach)
	if len(all) < onServer {
		t.Fatalf("only %d definitions", len(all))
	}
	all = all[:onServer]
	s := scratch.ForTest(t, module, ".")
	writeManifests(t, s, all)
	client := buildClient(t, s, all)

	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	server, err := apiserver.Start(ctx, apiserver.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Stop()
	var definitions []*apiextensionsv1.CustomResourceDefinition
	for _, m := range all {
		definitions = append(definitions, withoutRules(t, m.text))
	}
	if err := server.CreateCRDs(ctx, definitions...); err != nil {
		t.Fatal(err)
	}
	config := server.Config()
	reach, err := json.Marshal(access{config.Host, config.BearerToken, config.ServerName, config.CAData})
	if err != nil {
		t.Fatal(err)
	}
	create := startClient(t, s, client, reach)
	for _, m := range all {
		t.Run(m.def.Plural+"."+m.def.Group, func(t *testing.T) { checkOnServer(t, create, m) })
	}
}

// access has what a client needs to reach the server.
type access struct {
	Host, Token, ServerName string
	CA                      []byte
}

// withoutRules returns a definition without what this server can't handle: CEL rules, whose cost it bounds,
// and conversion by a webhook.
func withoutRules(t *testing.T, manifest []byte) *apiextensionsv1.CustomResourceDefinition {
	var object map[string]any
	if err := yaml.Unmarshal(manifest, &object); err != nil {
		t.Fatal(err)
	}
	delete(object, "status")
	delete(object["spec"].(map[string]any), "conversion")
	dropRules(object)
	text, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	definition := &apiextensionsv1.CustomResourceDefinition{}
	if err := json.Unmarshal(text, definition); err != nil {
		t.Fatal(err)
	}
	return definition
}

func dropRules(v any) {
	switch v := v.(type) {
	case map[string]any:
		delete(v, "x-kubernetes-validations")
		for _, inner := range v {
			dropRules(inner)
		}
	case []any:
		for _, inner := range v {
			dropRules(inner)
		}
	}
}

// buildClient imports the definitions and builds a program with their clients.
func buildClient(t *testing.T, s *scratch.Module, all []manifest) (program string) {
	run := func(name string, args ...string) {
		t.Helper()
		if _, err := s.Run(name, args...); err != nil {
			t.Fatal(err)
		}
	}
	run("go", "build", "-o", "bin/", "github.com/kubewright/kubewright/cmd/kubewright")
	// TestImport finds folders of types two levels deep.
	run("bin/kubewright", "import", "manifests", "--apis-dir", "known", "--output-dir", "client",
		"--fake-clientset=false")
	if err := s.Write("main.go", clientProgram(all, importedPackages(t, s.Dir))); err != nil {
		t.Fatal(err)
	}
	run("go", "build", "-o", "bin/client", ".")
	return filepath.Join(s.Dir, "bin", "client")
}

// answer is the program's answer to an object: an error, or the object in the list.
type answer struct {
	// Error is the error of the server or of the program, Invalid is true if the server refuses the object.
	Error   string
	Invalid bool
	Listed  map[string]any
}

// typeName names the type of a definition in lines to the program.
func typeName(d *crd.Definition) string { return d.Group + "/" + d.Kind }

// stored returns the version that the server stores, or the first if that isn't served.
func stored(d *crd.Definition) *crd.Version {
	for _, v := range d.Versions {
		if v.Storage {
			return v
		}
	}
	return d.Versions[0]
}

// startClient starts the program of clientProgram and returns a function by which it creates an object.
func startClient(t *testing.T, s *scratch.Module, program string,
	reach []byte) func(typ string, object []byte) (answer, error) {
	in, out := start(t, s.Command(program))
	if _, err := fmt.Fprintf(in, "%s\n", reach); err != nil {
		t.Fatal(err)
	}
	answers := json.NewDecoder(out)
	answers.UseNumber()
	return func(typ string, object []byte) (a answer, err error) {
		if _, err := fmt.Fprintf(in, "%s %s\n", typ, object); err != nil {
			return a, err
		}
		err = answers.Decode(&a)
		return a, err
	}
}

// checkOnServer makes the program create random objects until the server accepts one.
func checkOnServer(t *testing.T, create func(string, []byte) (answer, error), m manifest) {
	v := stored(m.def)
	refused := ""
	for i := range attempts {
		object := random{rand.New(rand.NewPCG(uint64(i), 2))}.object(m.def, v, i/(attempts/10))
		object["metadata"] = map[string]any{"name": fmt.Sprintf("random-%d", i)}
		text, err := json.Marshal(object)
		if err != nil {
			t.Fatal(err)
		}
		a, err := create(typeName(m.def), text)
		switch {
		case err != nil:
			t.Fatal(err)
		case a.Invalid:
			refused = a.Error
			continue
		case a.Error != "":
			t.Fatalf("%s, of %s", a.Error, text)
		}
		if v.Status { // only an update of the subresource writes it
			delete(object, "status")
		}
		if path := lost(nonZero(object), nonZero(a.Listed)); path != "" {
			t.Errorf("the listed object lacks %s\ncreated: %s\nlisted: %v", path, text, a.Listed)
		}
		t.Logf("accepted after %d others", i)
		return
	}
	t.Errorf("the server accepts none of %d objects; the last answer: %s", attempts, refused)
}

// lost returns the path of a value that want has and got doesn't, "" if there is none. got may have more
// fields.
func lost(want, got any) string {
	if want == nil { // nothing but zeros
		return ""
	}
	if w, ok := want.(map[string]any); ok {
		g, _ := got.(map[string]any)
		for _, key := range slices.Sorted(maps.Keys(w)) {
			if path := lost(w[key], g[key]); path != "" {
				return "." + key + path
			}
		}
		return ""
	}
	if w, ok := want.([]any); ok {
		g, _ := got.([]any)
		for i := range w {
			if i >= len(g) {
				return fmt.Sprintf("[%d]", i)
			}
			if path := lost(w[i], g[i]); path != "" {
				return fmt.Sprintf("[%d]%s", i, path)
			}
		}
		return ""
	}
	return difference(want, got)
}
