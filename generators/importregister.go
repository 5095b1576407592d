package generators

import (
	"path/filepath"
	"slices"

	"github.com/kubewright/kubewright/generators/internal/crd"
	"github.com/kubewright/kubewright/generators/internal/output"
	"github.com/kubewright/kubewright/generators/internal/render"
)

// registerFile is the file for the registration of imported types, which kubewright generate makes unless a
// type has the name of something that it would declare. Then import makes it, without that name.
const registerFile = "register.go"

// importedRegistration is the view of a register.go.
type importedRegistration struct {
	Group, Version string
	Kinds          []string
}

// Declares reports whether the file declares a name: no type has it.
func (r importedRegistration) Declares(name string) bool { return !slices.Contains(r.Kinds, name) }

// registration returns the register.go of a version, ok false if it doesn't need one or has one that was
// written by hand.
func (p *groupFolders) registration(group, version string, kinds []string, header string) (
	f render.File, ok bool,
) {
	file := filepath.Join(p.folder(group, version), registerFile)
	exists := output.IsFile(file)
	declared := p.declared(group, version)
	if _, byHand := declared["AddToScheme"]; byHand || exists && !madeByImport(file) {
		return render.File{}, false
	}
	kinds = slices.Clone(kinds)
	for name := range declared { // kinds of other runs
		if _, list := declared[name+"List"]; list {
			kinds = append(kinds, name)
		}
	}
	slices.Sort(kinds)
	if !exists && !slices.ContainsFunc(kinds, crd.Registers) {
		return render.File{}, false
	}
	return render.File{Path: file, Header: header, Template: "types/register.tmpl",
		View: func() any { return importedRegistration{group, version, kinds} }}, true
}

// madeByImport reports whether an import made a file.
func madeByImport(file string) bool {
	return output.Set{Headers: []string{generatedLine(importName)}}.Has(filepath.Dir(file), filepath.Base(file))
}
