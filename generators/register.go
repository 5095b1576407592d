package generators

import (
	"path/filepath"

	"github.com/kubewright/kubewright/generators/model"
	"github.com/kubewright/kubewright/generators/render"
)

// registerGenName is the name of upstream's binary, as in the generated line.
const registerGenName = "register-gen"

// registerGen makes the registration of API types, in their own packages.
type registerGen struct{ packages []*model.Registration }

// tree is none: the folders belong to the packages.
func (g *registerGen) tree() place { return place{} }

func (g *registerGen) files(h headers) []render.File {
	var files []render.File
	for _, p := range g.packages {
		files = append(files, render.File{
			Path:         shorten(filepath.Join(p.Dir, p.File)),
			Package:      p.Path,
			Header:       h[registerGenName],
			Template:     "register/package.tmpl",
			View:         func() any { return newRegisterView(p) },
			NamesImports: true,
		})
	}
	return files
}

// registerView is a package that registers its types.
type registerView struct {
	*model.Registration
	PackageName           string
	Meta, Schema, Runtime render.Package
}

// newRegisterView builds the view of a package.
func newRegisterView(p *model.Registration) any {
	names := newImportNames(p.Path)
	// Upstream names them in this order.
	return registerView{Registration: p, PackageName: p.Name,
		Meta:    names.of("k8s.io/apimachinery/pkg/apis/meta/v1"),
		Schema:  names.of("k8s.io/apimachinery/pkg/runtime/schema"),
		Runtime: names.of("k8s.io/apimachinery/pkg/runtime"),
	}
}
