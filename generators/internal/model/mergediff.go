package model

import (
	"context"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
)

// TypedPackage returns the package typed of structured-merge-diff, of the major version that apimachinery has
// where code in the folder dir is compiled. dir need not exist yet. If apimachinery isn't found, it is the
// version of v0.37.
func TypedPackage(ctx context.Context, dir string) string {
	for {
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			break
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			break
		}
		dir = parent
	}
	// With -find, which doesn't load what is imported, the go command doesn't tell imports.
	packages, _ := runGoList[struct {
		Dir     string
		GoFiles []string
	}](ctx, dir, "-find", "-json=Dir,GoFiles", "k8s.io/apimachinery/pkg/util/managedfields")
	for _, p := range packages {
		for _, name := range p.GoFiles {
			file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, name), nil, parser.ImportsOnly)
			if err != nil {
				continue
			}
			for _, spec := range file.Imports {
				if path, _ := strconv.Unquote(spec.Path.Value); typedPackage.MatchString(path) {
					return path
				}
			}
		}
	}
	return "sigs.k8s.io/structured-merge-diff/v6/typed"
}

var typedPackage = regexp.MustCompile(`^sigs\.k8s\.io/structured-merge-diff/v\d+/typed$`)
