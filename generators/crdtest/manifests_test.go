package crds

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kubewright/kubewright/generators/internal/crd"
)

// manifest is a definition with a name of its own, and the module that it is from.
type manifest struct {
	module string
	text   []byte
	def    *crd.Definition
}

var (
	modules = flag.Int("modules", 3, "read this many rows of modules.tsv; 0 means all")
	crdsDir = flag.String("crds-dir", "", "TestBack reads the definitions in this folder, not those of modules")
)

// manifests reads the definitions of the first modules; 0 means all. most bounds the number of definitions of
// each module. Of definitions with the same name it takes the first.
func manifests(t *testing.T, modules, most int) []manifest {
	t.Helper()
	rows, err := os.ReadFile("modules.tsv")
	if err != nil {
		t.Fatal(err)
	}
	var all []manifest
	names := map[string]bool{}
	for i, row := range slices.Collect(strings.Lines(string(rows))) {
		if modules > 0 && i == modules {
			break
		}
		columns := strings.Fields(row)
		dir, err := download(columns[0] + "@" + columns[1])
		if err != nil {
			t.Fatal(err)
		}
		texts := documents(t, filepath.Join(dir, columns[2]))
		found := manifestsOf(t, columns[0], texts, names, most)
		if len(found) == 0 {
			t.Errorf("%s has no definition of its own in %s", columns[0], columns[2])
		}
		all = append(all, found...)
	}
	return all
}

// manifestsOf reads up to most definitions of a module, without those whose names it has already.
func manifestsOf(
	t *testing.T, module string, texts [][]byte, names map[string]bool, most int,
) (all []manifest) {
	t.Helper()
	for _, text := range texts {
		defs, problems := crd.Read([]crd.Source{{Name: module, Text: text}})
		if problems.Fatal() {
			t.Errorf("%s: %v", module, problems)
			continue
		}
		for _, def := range defs {
			if name := def.Plural + "." + def.Group; !names[name] && len(all) < most {
				names[name] = true
				all = append(all, manifest{module, text, def})
			}
		}
	}
	return all
}

// download returns the folder of a module in the module cache.
func download(module string) (string, error) {
	cmd := exec.Command("go", "mod", "download", "-json", module)
	cmd.Dir = os.TempDir() // so that the versions in this module's go.mod make no difference
	out, err := cmd.Output()
	var info struct{ Dir, Error string }
	if err := errors.Join(err, json.Unmarshal(out, &info)); err != nil {
		return "", fmt.Errorf("downloading %s: %w %s", module, err, info.Error)
	}
	return info.Dir, nil
}

// documents returns the definitions in the YAML files of a folder, each as a text of its own.
func documents(t *testing.T, dir string) [][]byte {
	t.Helper()
	var all [][]byte
	err := filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(file, ".yaml") && !strings.HasSuffix(file, ".yml") {
			return err
		}
		text, err := os.ReadFile(file)
		for doc := range strings.SplitSeq("\n"+string(text), "\n---") {
			if strings.Contains(doc, "\nkind: CustomResourceDefinition") {
				all = append(all, []byte(doc+"\n"))
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
