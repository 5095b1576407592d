package generators

import (
	"github.com/kubewright/kubewright/generators/internal/model"
	"github.com/kubewright/kubewright/generators/internal/render"
)

// registerGenName is the name of upstream's binary, as in the generated line.
const registerGenName = "register-gen"

// newRegisterGen returns the generator of the registration of API types.
func newRegisterGen(packages []*model.Registration) *helperGen {
	g := &helperGen{name: registerGenName, template: "register/package.tmpl"}
	for _, p := range packages {
		g.add(p.HelperPackage, func() any { return newRegisterView(p) })
	}
	return g
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
		Meta:    names.packageFor("k8s.io/apimachinery/pkg/apis/meta/v1"),
		Schema:  names.packageFor("k8s.io/apimachinery/pkg/runtime/schema"),
		Runtime: names.packageFor("k8s.io/apimachinery/pkg/runtime"),
	}
}
