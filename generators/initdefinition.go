package generators

import (
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/kubewright/kubewright/generators/internal/crd"
	"github.com/kubewright/kubewright/generators/internal/output"
)

// emptyDefinition is a definition of a kind, in YAML. Nothing writes it: what is wrong with it is wrong with
// the flags of init, and its names are those of the types.
const emptyDefinition = `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition,
metadata: {name: %[1]q, annotations: {api-approved.kubernetes.io: "unapproved, or the URL of the approval"}},
spec: {group: %[2]q, scope: %[3]s, names: {kind: %[4]q, plural: %[5]q, singular: %[6]q},
versions: [{name: %[7]q, served: true, storage: true, subresources: {status: {}},
schema: {openAPIV3Schema: {type: object}}}]}}`

// definition returns the definition of the kind, as far as the flags say what it is.
func (i *Init) definition() ([]*crd.Definition, Problems) {
	scope := "Namespaced"
	if !i.namespaced {
		scope = "Cluster"
	}
	return crd.Read([]crd.Source{{Text: fmt.Appendf(nil, emptyDefinition, i.resource+"."+i.group, i.group, scope,
		i.kind, i.resource, strings.ToLower(i.kind), i.version)}})
}

// goGenerate is a line that makes go generate write all code and definitions of the packages below its file.
const goGenerate = "//go:generate go tool kubewright generate ./... --crds-dir "

// crdsFlag matches the folder for definitions in such a line.
var crdsFlag = regexp.MustCompile(`\s--crds-dir[ =](\S+)`)

// generateLine is a line for go generate that runs kubewright.
type generateLine struct {
	// dir is the folder of its file, argument that of go generate, which the package in dir is part of.
	dir, argument string
	// crds is the folder for definitions, "" if the line makes none.
	crds string
}

// findGenerate returns the line in the folder of the types, or else in the root of the module. Without one it
// returns that of a new file in the folder of the types, and adds the file to contents.
func (i *Init) findGenerate(contents map[string][]byte, root string) (generateLine, error) {
	inRoot, inAPIs := strings.TrimSuffix(packagesBelow(shorten(root)), "/..."), packagesBelow(i.apis)
	if sameFolder(i.apis, root) {
		inAPIs = inRoot
	}
	for _, g := range []generateLine{{dir: i.apis, argument: inAPIs}, {dir: root, argument: inRoot}} {
		found, err := output.AnyLine(g.dir, func(line string) bool {
			if !strings.HasPrefix(line, "//go:generate ") || !strings.Contains(line, "kubewright generate") {
				return false
			}
			if m := crdsFlag.FindStringSubmatch(line); m != nil {
				g.crds = filepath.Join(g.dir, m[1])
			}
			return true
		})
		if err != nil || found {
			return g, errors.Join(err, i.refuseOtherCRDs(g))
		}
	}
	crds, err := relative(i.apis, i.crds)
	contents[filepath.Join(i.apis, "generate.go")] = []byte("// Package " + packageName(i.apis) +
		" contains the API types, in a folder for each group and version.\npackage " + packageName(i.apis) +
		"\n\n" + goGenerate + crds + "\n")
	return generateLine{dir: i.apis, argument: inAPIs, crds: i.crds}, err
}

// refuseOtherCRDs returns an error if --crds-dir names another folder than an existing line: init changes no
// file.
func (i *Init) refuseOtherCRDs(g generateLine) error {
	if !i.flags.Changed("crds-dir") || g.crds == "" || sameFolder(g.crds, i.crds) {
		return nil
	}
	return fmt.Errorf("--crds-dir %s: the //go:generate line in %s writes definitions to %s; leave out the"+
		" flag, or change that line", i.crds, g.dir, g.crds)
}

// relative returns the path of a folder as seen from another one, with slashes.
func relative(from, to string) (string, error) {
	from, fromErr := filepath.Abs(from)
	to, toErr := filepath.Abs(to)
	path, err := filepath.Rel(from, to)
	return filepath.ToSlash(path), errors.Join(fromErr, toErr, err)
}
