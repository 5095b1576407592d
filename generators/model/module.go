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
	// Path is the module's path, Dir its root folder, absolute.
	Path, Dir string
}

// ErrNoModule is what [FindModule] and [ImportPath] return, wrapped, for a
// folder that no go.mod is above of.
var ErrNoModule = errors.New("no go.mod in this folder or above")

// FindModule finds the module that a folder belongs to: the nearest go.mod in
// it or above it, whether or not a workspace is in effect. The folder itself
// needn't exist yet.
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
		info, err := os.Stat(name)
		switch {
		case err == nil && !info.IsDir():
			text, err := os.ReadFile(name)
			if err != nil {
				return Module{}, err
			}
			modulePath := modfile.ModulePath(text)
			if modulePath == "" {
				return Module{}, fmt.Errorf("%s: no module line", name)
			}
			return Module{modulePath, root}, nil
		case root == filepath.Dir(root):
			return Module{}, fmt.Errorf("%s: %w", abs, ErrNoModule)
		}
	}
}

// ImportPath is the import path that a package in the folder dir has, or will
// have once it exists, by the nearest go.mod.
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
