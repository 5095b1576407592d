package generators

import (
	"cmp"
	"slices"
	"strings"

	"github.com/kubewright/kubewright/generators/model"
	"github.com/kubewright/kubewright/generators/render"
)

// applyExtractView are the Extract functions.
type applyExtractView struct {
	// Param is the name of their object, Type its type.
	Param string
	Type  render.Ident
	// Internal is the package of the schema, SchemaName the type's name there.
	Internal     render.Package
	SchemaName   string
	Subresources []applySubresourceView
}

type applySubresourceView struct{ Name, Suffix string }

func (g *applyGen) extract(p *model.ApplyPackage, t *model.ApplyType) *applyExtractView {
	subresources := map[string]bool{}
	if t.Kind.HasStatus {
		subresources["status"] = true
	}
	for _, m := range t.Kind.Methods {
		if m.Subresource != "" {
			subresources[m.Subresource] = true
		}
	}
	view := &applyExtractView{Param: applyParameter(private(t.TypeName.Name)), Type: applyAPIPackage(p).Ident(t.TypeName.Name),
		Internal: g.internal(), SchemaName: g.roots[t]}
	for name := range subresources {
		view.Subresources = append(view.Subresources, applySubresourceView{name, titled(name)})
	}
	slices.SortFunc(view.Subresources, func(a, b applySubresourceView) int { return cmp.Compare(a.Name, b.Name) })
	return view
}

// applyParameter is a legal name for the object that functions extract from.
func applyParameter(name string) string {
	if slices.Contains([]string{"b", "err", "fieldManager", "subresource", "string", "error", "nil"}, name) {
		return name + "_"
	}
	return parameter(name)
}

// titled has each word begin with a capital letter and go on in small ones, as
// upstream makes names of sub-resources; what no name can have is left out.
func titled(name string) string {
	var b strings.Builder
	for word := range strings.FieldsFuncSeq(name, func(r rune) bool { return !isNameRune(r) }) {
		b.WriteString(exported(strings.ToLower(word)))
	}
	return b.String()
}
