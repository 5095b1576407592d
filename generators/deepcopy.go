package generators

import (
	"strings"

	"github.com/kubewright/kubewright/generators/internal/model"
	"github.com/kubewright/kubewright/generators/internal/render"
)

// deepCopyGenName is the name of upstream's binary, as in the generated line.
const deepCopyGenName = "deepcopy-gen"

// newDeepCopyGen returns the generator of the DeepCopy functions of API types.
func newDeepCopyGen(packages []*model.CopyPackage) *helperGen {
	g := &helperGen{name: deepCopyGenName, template: "deepcopy/package.tmpl"}
	for _, p := range packages {
		g.add(p.HelperPackage, func() any { return newDeepCopyView(p) })
	}
	return g
}

// deepCopyView is a package of types with DeepCopy functions.
type deepCopyView struct {
	PackageName string
	Types       []copyTypeView
}

// copyTypeView is a type with DeepCopy functions.
type copyTypeView struct {
	*model.CopyType
	// Code is the type as gofmt writes it: the Name of a generic type has no blanks
	// after commas.
	Code string
	// Receiver is the type of the receiver, and of DeepCopy's result.
	Receiver string
	// Body is the text of DeepCopyInto.
	Body string
	// Interfaces are the types of the methods DeepCopy and their name.
	Interfaces []render.Ident
}

// newDeepCopyView builds the view of a package.
func newDeepCopyView(p *model.CopyPackage) any {
	view := deepCopyView{PackageName: p.Name}
	names := newImportNames(p.Path)
	for _, t := range p.Types {
		v := copyTypeView{CopyType: t, Code: strings.ReplaceAll(t.Name, ",", ", ")}
		v.Receiver = "*" + v.Code
		if t.Reference {
			v.Receiver = v.Code
		}
		if t.Into {
			v.Body = copyBody(names, t)
		}
		for _, path := range t.Imports {
			names.packageFor(path)
		}
		for _, i := range t.Interfaces {
			v.Interfaces = append(v.Interfaces, names.packageFor(i.Path).Ident(i.Name))
		}
		view.Types = append(view.Types, v)
	}
	return view
}
