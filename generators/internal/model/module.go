package model

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"

	"golang.org/x/mod/modfile"
)

// Module is a Go module on the disk.
type Module struct {
	// Path is the module path, Dir the absolute root folder.
	Path, Dir string
}

// ErrNoModule is the error of [FindModule] and [ImportPath], wrapped, for a folder
// outside of all modules.
var ErrNoModule = errors.New("no go.mod here or in any folder above")

// FindModule returns the module that contains a folder: the one of the nearest go.mod
// in it or above it. A workspace makes no difference, as it doesn't change import
// paths. The folder needn't exist.
func FindModule(ctx context.Context, dir string) (Module, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return Module{}, err
	}
	for root := abs; ; root = filepath.Dir(root) {
		if err := ctx.Err(); err != nil {
			return Module{}, err
		}
		name := filepath.Join(root, "go.mod")
		// A folder of that name is no module file; the go command ignores it, too.
		info, err := os.Stat(name)
		switch {
		case err == nil && !info.IsDir():
			text, err := os.ReadFile(name)
			if err != nil {
				return Module{}, err
			}
			modulePath := modfile.ModulePath(text)
			if modulePath == "" {
				return Module{}, fmt.Errorf("%s has no module line", name)
			}
			return Module{modulePath, root}, nil
		case root == filepath.Dir(root):
			return Module{}, fmt.Errorf("%s: %w", abs, ErrNoModule)
		}
	}
}

// ImportPath returns the import path of a package in the folder dir, which needn't
// exist, according to the nearest go.mod.
func ImportPath(ctx context.Context, dir string) (string, error) {
	module, err := FindModule(ctx, dir)
	if err != nil {
		return "", err
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	rel, err := filepath.Rel(module.Dir, abs)
	if err != nil {
		return "", err
	}
	return path.Join(module.Path, filepath.ToSlash(rel)), nil
}

// Workspace is a go.work file, which lists the modules that are used together.
type Workspace struct {
	// File is its absolute path, Modules the folders of the modules as it has them.
	File    string
	Modules []string
}

// FindWorkspace returns the workspace that the go command uses in a folder, ok false if it uses
// none or can't read it.
func FindWorkspace(dir string) (w Workspace, ok bool) {
	w.File = os.Getenv("GOWORK")
	if w.File == "off" {
		return Workspace{}, false
	}
	if w.File == "" {
		abs, err := filepath.Abs(dir)
		if err != nil {
			return Workspace{}, false
		}
		for w.File = filepath.Join(abs, "go.work"); ; w.File = filepath.Join(abs, "go.work") {
			if info, err := os.Stat(w.File); err == nil && !info.IsDir() {
				break
			}
			if abs == filepath.Dir(abs) {
				return Workspace{}, false
			}
			abs = filepath.Dir(abs)
		}
	}
	text, err := os.ReadFile(w.File)
	if err != nil {
		return Workspace{}, false
	}
	work, err := modfile.ParseWork(w.File, text, nil)
	if err != nil {
		return Workspace{}, false
	}
	for _, use := range work.Use {
		w.Modules = append(w.Modules, use.Path)
	}
	return w, true
}
