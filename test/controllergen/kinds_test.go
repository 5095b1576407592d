package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"
	"sigs.k8s.io/controller-tools/pkg/crd"
	"sigs.k8s.io/controller-tools/pkg/genall"

	"github.com/kubewright/kubewright/generators"
)

var (
	kindCount = flag.Int("kinds", 200, "how many random kinds are compared")
	keepKinds = flag.String("keep", "", "the folder in which random kinds are kept")
)

// TestKinds compares the definitions of random kinds: both tools make the same text, or both refuse.
func TestKinds(t *testing.T) {
	s := seed(t)
	dir := *keepKinds
	if dir == "" {
		dir = t.TempDir()
	}
	writeModule(t, dir)
	for i := range *kindCount {
		r := rand.New(rand.NewPCG(s, uint64(i)))
		group := fmt.Sprintf("g%d.example.com", i)
		write(t, filepath.Join(dir, fmt.Sprintf("g%d", i), "v1", "types.go"), randomPackage(r, group))
	}
	options := generators.DefinitionOptions{MaxDescription: -1}
	if r := rand.New(rand.NewPCG(s, 3)); r.IntN(2) == 0 {
		options = generators.DefinitionOptions{MaxDescription: r.IntN(60), EmbeddedMetadata: r.IntN(2) == 0,
			AllowFloats: r.IntN(2) == 0}
	}
	t.Logf("%+v", options)
	var answers []map[string]string
	var errs map[string]string
	for range 4 {
		files, failed := theirKinds(t, dir, options)
		answers, errs = append(answers, files), failed
	}
	ours, refused := ourKinds(t, dir, options)
	made := 0
	for i := range *kindCount {
		group := fmt.Sprintf("g%d", i)
		file, text := fileOf(ours, group)
		switch {
		case errs[group] != "" && refused[group] != "": // both refuse
		case errs[group] != "":
			t.Errorf("%s: only controller-gen refuses it: %s", group, errs[group])
		case refused[group] != "":
			t.Errorf("%s: only we refuse it: %s", group, refused[group])
		default:
			made++
			if problem := compareAnswers(answers, group, file, text); problem != "" {
				t.Errorf("%s: %s", group, problem)
			}
		}
	}
	t.Logf("%d kinds, of which both tools accept %d", *kindCount, made)
	if made < *kindCount/4 {
		t.Error("too few kinds are accepted")
	}
}

// compareAnswers returns how a file differs from all answers.
func compareAnswers(answers []map[string]string, group, file, text string) string {
	problem := ""
	for _, answer := range answers {
		wanted, other := fileOf(answer, group)
		if wanted != file {
			problem = fmt.Sprintf("the file is %q, not %q", file, wanted)
		} else if other == text {
			return ""
		} else {
			problem, _ = difference(other, text, false)
		}
	}
	return problem
}

// fileOf returns the file of a group.
func fileOf(files map[string]string, group string) (name, text string) {
	for name, text := range files {
		if strings.HasPrefix(name, group+".") {
			return name, text
		}
	}
	return "", ""
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// writeModule writes a module with the requirements of this one.
func writeModule(t *testing.T, dir string) {
	t.Helper()
	mod, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	sum, err := os.ReadFile("go.sum")
	if err != nil {
		t.Fatal(err)
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Replace(string(mod), "module github.com/kubewright/kubewright/generators/controllergen",
		"module corpus.example/random", 1)
	write(t, filepath.Join(dir, "go.mod"), strings.Replace(text, "=> ../..", "=> "+root, 1))
	write(t, filepath.Join(dir, "go.sum"), string(sum))
}

// theirKinds returns controller-gen's files, and the errors of packages by their folders. It writes files in
// spite of errors.
func theirKinds(t *testing.T, dir string, o generators.DefinitionOptions) (files, errs map[string]string) {
	t.Helper()
	yes := true
	options := crd.Generator{OmitToolVersion: &yes, IgnoreUnexportedFields: &yes,
		GenerateEmbeddedObjectMeta: &o.EmbeddedMetadata, AllowDangerousTypes: &o.AllowFloats}
	if o.MaxDescription >= 0 {
		options.MaxDescLen = &o.MaxDescription
	}
	var gen genall.Generator = options
	rt, err := genall.Generators{&gen}.ForRootsWithConfig(&packages.Config{Dir: dir}, "./...")
	if err != nil {
		t.Fatal(err)
	}
	out := t.TempDir()
	rt.OutputRules.Default = genall.OutputToDirectory(out)
	rt.ErrorWriter = io.Discard
	rt.Run()
	errs = map[string]string{}
	for _, root := range rt.Roots {
		for _, e := range root.Errors {
			if e.Kind != packages.TypeError {
				errs[filepath.Base(filepath.Dir(root.PkgPath))] += e.Msg + "\n"
			}
		}
	}
	if files, err = readFolder(out); err != nil {
		t.Fatal(err)
	}
	return files, errs
}

// ourKinds is theirKinds for kubewright. Packages with errors are left out of a second run.
func ourKinds(t *testing.T, dir string, o generators.DefinitionOptions) (files, errs map[string]string) {
	t.Helper()
	t.Chdir(dir)
	folders, err := filepath.Glob("g*/v1")
	if err != nil {
		t.Fatal(err)
	}
	errs = map[string]string{}
	for range 3 {
		cfg := generators.Config{Definitions: &o}
		for _, folder := range folders {
			if errs[filepath.Dir(folder)] == "" {
				cfg.Inputs = append(cfg.Inputs, generators.Input{Pattern: "./" + folder})
			}
		}
		all, problems, err := generators.Definitions(context.Background(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		for _, problem := range problems {
			folder, _, below := strings.Cut(problem.Pos.Filename, "/")
			if !problem.Warning && (!below || folder == "") {
				t.Errorf("a problem without a position: %s", problem)
			} else if !problem.Warning {
				errs[folder] += problem.String() + "\n"
			}
		}
		files = map[string]string{}
		for _, d := range all {
			files[d.File] = string(d.Text)
		}
		if !problems.Fatal() {
			break
		}
	}
	return files, errs
}
