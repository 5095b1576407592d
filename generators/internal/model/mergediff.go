package model

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
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
	packages, err := runGoList[struct{ Imports []string }](ctx, dir,
		"-find", "-json=Imports", "k8s.io/apimachinery/pkg/util/managedfields")
	if err == nil {
		for _, p := range packages {
			for _, imported := range p.Imports {
				if typedPackage.MatchString(imported) {
					return imported
				}
			}
		}
	}
	return "sigs.k8s.io/structured-merge-diff/v6/typed"
}

var typedPackage = regexp.MustCompile(`^sigs\.k8s\.io/structured-merge-diff/v\d+/typed$`)
