package output

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"golang.org/x/mod/modfile"
)

// ErrNoModule is what Module returns for a folder that is in no Go module.
var ErrNoModule = errors.New("no go.mod here or in any folder above")

// Module finds the Go module that dir is in, or would be in if it existed: its
// folder, and the import path of dir.
func Module(dir string) (root, importPath string, err error) {
	dir, err = filepath.Abs(dir)
	if err != nil {
		return "", "", err
	}
	for root = dir; ; root = filepath.Dir(root) {
		file := filepath.Join(root, "go.mod")
		text, err := os.ReadFile(file)
		if err == nil {
			module := modfile.ModulePath(text)
			if module == "" {
				return "", "", fmt.Errorf("%s names no module", file)
			}
			rel, err := filepath.Rel(root, dir)
			return root, path.Join(module, filepath.ToSlash(rel)), err
		}
		if !errors.Is(err, fs.ErrNotExist) && filepath.Dir(root) == root {
			return "", "", err
		}
		if filepath.Dir(root) == root {
			return "", "", ErrNoModule
		}
	}
}
