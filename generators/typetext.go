package generators

import (
	"github.com/kubewright/kubewright/generators/model"
	"github.com/kubewright/kubewright/generators/render"
)

// typeText is a type as Go source; aliases are what to call packages.
func typeText(aliases map[string]string, e *model.Expr) string {
	switch e.Form {
	case model.Pointer:
		return "*" + typeText(aliases, e.Elem)
	case model.Slice:
		return "[]" + typeText(aliases, e.Elem)
	case model.Array:
		return "[" + e.Text + "]" + typeText(aliases, e.Elem)
	case model.Map:
		return "map[" + typeText(aliases, e.Key) + "]" + typeText(aliases, e.Elem)
	case model.Literal:
		return e.Text
	}
	text := e.Name.Name
	if e.Name.Path != "" {
		text = render.Package{Path: e.Name.Path, Alias: aliases[e.Name.Path]}.Ident(e.Name.Name).String()
	}
	for i, arg := range e.Args {
		text += map[bool]string{true: "[", false: ", "}[i == 0] + typeText(aliases, arg)
	}
	if len(e.Args) > 0 {
		text += "]"
	}
	return text
}
