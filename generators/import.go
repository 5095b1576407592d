package generators

import (
	"context"
	"errors"
	"fmt"
	"go/format"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"

	"github.com/kubewright/kubewright/generators/internal/crd"
	"github.com/kubewright/kubewright/generators/internal/output"
	"github.com/kubewright/kubewright/generators/internal/render"
)

// importName is in the generated line of imported types.
const importName = "kubewright import"

// Import is the configuration of the types that kubewright import makes. The zero value is ready for
// AddFlags.
type Import struct {
	// Stdin is read for the source "-".
	Stdin io.Reader
	// HeaderFile is that of [Config].
	HeaderFile string
	// dir is the folder for the folders of groups.
	dir       string
	wellKnown bool
}

// AddFlags adds the flags of kubewright import that control the types.
func (i *Import) AddFlags(fs *pflag.FlagSet) {
	fs.StringVar(&i.dir, "apis-dir", "apis", "the folder for types, which gets a folder for each group")
	fs.BoolVar(&i.wellKnown, "well-known-types", true,
		"use types of k8s.io/apimachinery and k8s.io/api, such as LabelSelector, where a schema has their fields")
}

// Packages returns the pattern of the packages to generate from: all below the folder for types, because a
// run has to name all packages that share an output folder.
func (i *Import) Packages() string { return packagesBelow(i.dir) }

// packagesBelow returns the pattern of all packages in a folder.
func packagesBelow(folder string) string {
	dir := filepath.ToSlash(filepath.Clean(folder))
	if !filepath.IsAbs(folder) && dir != "." && dir != ".." && !strings.HasPrefix(dir, "../") {
		dir = "./" + dir
	}
	return strings.TrimSuffix(dir, "/") + "/..."
}

// Plan reads the manifests in files and folders, makes the types in memory, and compares them with the disk.
// It writes nothing; Changes.Apply does. The results are those of the function [Plan].
func (i *Import) Plan(ctx context.Context, from []string) (*Changes, Problems, error) {
	if i.dir == "" { // usually a variable that the script forgot to set
		return nil, nil, errors.New("--apis-dir is empty; leave the flag out for the default")
	}
	headers, problems, err := newHeaders(i.HeaderFile, defaultBuildTag, false)
	if err != nil || problems.Fatal() {
		return nil, problems, err
	}
	manifests, err := output.Manifests(from, i.Stdin)
	if err != nil {
		return nil, nil, err
	}
	var sources []crd.Source
	for _, m := range manifests {
		sources = append(sources, crd.Source(m))
	}
	defs, problems := crd.Read(sources)
	if problems.Fatal() {
		return nil, problems, ctx.Err()
	}
	if len(defs) == 0 {
		return nil, problems, fmt.Errorf("no CustomResourceDefinition in %s", strings.Join(from, ", "))
	}
	folders, more, err := newGroupFolders(i.dir, defs)
	if problems = append(problems, more...).Sort(); err != nil || problems.Fatal() {
		return nil, problems, err
	}
	types, more := crd.Options{WellKnown: i.wellKnown, Taken: folders.declared}.Types(defs)
	if problems = append(problems, more...).Sort(); problems.Fatal() {
		return nil, problems, nil
	}
	problems = append(problems, folders.warnings(defs)...)
	contents, err := renderTypes(folders.files(types, headers.plain[importName]))
	if err != nil {
		return nil, problems, err
	}
	changes, err := output.Set{
		Files: contents, Headers: []string{generatedLine(importName)}, KeepOthers: true,
		Folders: []string{i.dir},
	}.Compare()
	return changes, problems, err
}

// renderTypes is renderFiles followed by gofmt, which also formats the comments: their text comes from the
// manifests. gofmt takes longer than all the rest, but types are imported rarely.
func renderTypes(files []render.File) (map[string][]byte, error) {
	contents, err := renderFiles(files)
	if err != nil {
		return nil, err
	}
	for path, text := range contents {
		if contents[path], err = format.Source(text); err != nil {
			return nil, fmt.Errorf("kubewright made invalid Go for %s: %w", filepath.Base(path), err)
		}
	}
	return contents, nil
}
