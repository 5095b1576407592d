package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// modules are the folders of the modules that checks need, with the packages of each.
var modules = []struct{ folder, packages string }{
	{".", "./..."},
	{"test/dropin", "./facades"},
}

const (
	kubeOpenAPI = "k8s.io/kube-openapi"
	diffV6      = "sigs.k8s.io/structured-merge-diff/v6"
	diffV7      = "sigs.k8s.io/structured-merge-diff/v7"
	// diffV7Version is the one that client-go v0.38.0-alpha.2 requires.
	diffV7Version = "v7.0.0"
)

// editModules makes the modules of the copy require its version of the k8s.io modules. What else that needs
// is added to their go.mod and go.sum.
func (c *copied) editModules(work string) error {
	var all []string
	if c.minor != "v0.37" {
		dir := filepath.Join(work, "kube-openapi")
		if err := c.renamedKubeOpenAPI(dir); err != nil {
			return err
		}
		all = append(all, "-replace="+kubeOpenAPI+"="+dir)
	}
	for _, m := range modules {
		required, err := c.requirements(m.folder)
		if err != nil {
			return err
		}
		release := required["k8s.io/client-go"]
		edits := slices.Clone(all)
		for module, version := range required {
			if strings.HasPrefix(module, "k8s.io/") && version == release {
				edits = append(edits, "-require="+module+"@"+c.name)
			}
		}
		if _, err := c.output(m.folder, "go", append([]string{"mod", "edit"}, edits...)...); err != nil {
			return err
		}
		// go mod tidy would need the tests of what we import, and what these import can't be had yet.
		// The tag selects files that import what tests compile elsewhere.
		_, err = c.output(m.folder, "go", "list", "-mod=mod", "-tags=deps", "-deps", "-test", m.packages)
		if err != nil {
			return err
		}
	}
	return nil
}

// requirements returns the versions of the modules that a module of the copy requires.
func (c *copied) requirements(folder string) (map[string]string, error) {
	text, err := c.output(folder, "go", "mod", "edit", "-json")
	if err != nil {
		return nil, err
	}
	var mod struct {
		Require []struct{ Path, Version string }
	}
	if err := json.Unmarshal([]byte(text), &mod); err != nil {
		return nil, fmt.Errorf("go mod edit -json: %w", err)
	}
	versions := map[string]string{}
	for _, r := range mod.Require {
		versions[r.Path] = r.Version
	}
	return versions, nil
}

// renamedKubeOpenAPI copies the version of kube-openapi that the repository requires to dir, with the imports
// of structured-merge-diff v6 changed to v7: the version that client-go v0.38.0-alpha.2 requires isn't in the
// module proxy.
func (c *copied) renamedKubeOpenAPI(dir string) error {
	text, err := c.output(".", "go", "mod", "download", "-json", kubeOpenAPI)
	if err != nil {
		return err
	}
	var module struct{ Dir string }
	if err := json.Unmarshal([]byte(text), &module); err != nil {
		return fmt.Errorf("go mod download -json: %w", err)
	}
	err = filepath.WalkDir(module.Dir, func(file string, entry fs.DirEntry, err error) error {
		name, relErr := filepath.Rel(module.Dir, file)
		if err := errors.Join(err, relErr); err != nil {
			return err
		}
		if entry.IsDir() && entry.Name() == "testdata" {
			return fs.SkipDir
		}
		if entry.IsDir() || filepath.Ext(file) != ".go" && entry.Name() != "go.mod" && entry.Name() != "go.sum" {
			return nil
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if filepath.Ext(file) == ".go" {
			text = []byte(strings.ReplaceAll(string(text), diffV6, diffV7))
		}
		to := filepath.Join(dir, name)
		return errors.Join(os.MkdirAll(filepath.Dir(to), 0o755), os.WriteFile(to, text, 0o644))
	})
	if err != nil {
		return err
	}
	edit := c.command(".", "go", "mod", "edit", "-droprequire="+diffV6, "-require="+diffV7+"@"+diffV7Version)
	edit.Dir = dir
	if out, err := edit.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: go mod edit: %w\n%s", dir, err, out)
	}
	return nil
}
