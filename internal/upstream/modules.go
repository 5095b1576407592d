package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// modules are the folders of the modules that checks need, with the packages of each.
var modules = []struct{ folder, packages string }{
	{".", "./..."},
	{"contrib/prometheus", "./..."},
	{"contrib/controller-runtime", "./..."},
	{"crdcheck", "./..."},
	{"envtest", "./..."},
	{"examples/tour", "./..."},
	{"generators/crdtest", "./..."},
	{"test/ctrlsuites", "./ownwrites"},
	{"test/dropin", "./facades"},
	{"test/e2e", "./..."},
	{"test/lab", "./..."},
	{"test/parity", "./..."},
}

// minor is the minor of the k8s.io modules that this repository requires.
const minor = "v0.37"

// kubeOpenAPI is a version of kube-openapi that works with v0.38.0-alpha.2. The module proxy doesn't have the
// one that alpha.2 requires, which is two weeks older.
const kubeOpenAPI = "k8s.io/kube-openapi@v0.0.0-20261014044854-ca3452a79603"

// editModules makes the modules of the copy require its version of the k8s.io modules. What else that needs
// is added to their go.mod and go.sum.
func (c *copied) editModules() error {
	for _, m := range modules {
		if err := c.takeNewest(m.folder); err != nil {
			return err
		}
		required, err := c.requirements(m.folder)
		if err != nil {
			return err
		}
		release := required["k8s.io/client-go"]
		var edits []string
		if c.minor != minor {
			edits = append(edits, "-require="+kubeOpenAPI)
		}
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

// takeNewest makes a module of the copy require the newest versions of what else it works with, if it has
// newest.mod and newest.sum for them: older controller-runtimes aren't made for the next minor.
func (c *copied) takeNewest(folder string) error {
	for _, suffix := range []string{"mod", "sum"} {
		dir := filepath.Join(c.dir, filepath.FromSlash(folder))
		err := os.Rename(filepath.Join(dir, "newest."+suffix), filepath.Join(dir, "go."+suffix))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
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
