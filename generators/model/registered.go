package model

import (
	"go/ast"
	"go/token"
	"path"
	"slices"
	"strconv"

	"github.com/kubewright/kubewright/generators/marker"
)

// registered is the group and version that a package registers its types in, as
// far as its source says so plainly: by is what says it, "" for nothing.
type registered struct {
	group, version       string
	hasGroup, hasVersion bool
	by                   string
}

// registered looks where nearly every register.go says it, and controller
// tools' groupversion_info.go.
func (l *loader) registered(p *source) registered {
	for _, name := range []string{"SchemeGroupVersion", "GroupVersion"} {
		r := registered{by: "variable " + name}
		lit, f := p.groupVersionLiteral(name)
		if lit == nil {
			continue
		}
		for i, element := range lit.Elts {
			key, value := [...]string{"Group", "Version"}[min(i, 1)], element
			if pair, ok := element.(*ast.KeyValueExpr); ok {
				key, value = typeName(pair.Key), pair.Value
			}
			switch key {
			case "Group":
				r.group, r.hasGroup = l.text(p, f, value)
			case "Version":
				r.version, r.hasVersion = l.text(p, f, value)
			}
		}
		if r.hasGroup || r.hasVersion {
			return r
		}
	}
	group, err := strconv.Unquote(p.constant("GroupName"))
	return registered{by: "constant GroupName", group: group, hasGroup: err == nil}
}

// groupVersionLiteral finds the literal of a type GroupVersion that a variable
// is, or another variable that it is set to.
func (s *source) groupVersionLiteral(name string) (*ast.CompositeLit, *file) {
	for range maxHops {
		value, f := s.value(token.VAR, name)
		switch value := value.(type) {
		case *ast.Ident:
			name = value.Name
		case *ast.CompositeLit:
			if typeName(value.Type) == "GroupVersion" {
				return value, f
			}
			return nil, nil
		default:
			return nil, nil
		}
	}
	return nil, nil
}

// text is the value of an expression that is a string literal, or a constant of
// this package or of another that was loaded anyway. To load one for it would
// cost a call of the go command.
func (l *loader) text(p *source, f *file, expr ast.Expr) (string, bool) {
	for range maxHops {
		name := ""
		switch e := expr.(type) {
		case *ast.BasicLit:
			text, err := strconv.Unquote(e.Value)
			return text, err == nil
		case *ast.ParenExpr:
			expr = e.X
			continue
		case *ast.Ident:
			name = e.Name
		case *ast.SelectorExpr:
			if p = l.imported(f, typeName(e.X)); p == nil {
				return "", false
			}
			name = e.Sel.Name
		default:
			return "", false
		}
		if expr, f = p.value(token.CONST, name); expr == nil {
			return "", false
		}
		if call, ok := expr.(*ast.CallExpr); ok && len(call.Args) == 1 {
			expr = call.Args[0] // in a constant it is a conversion
		}
	}
	return "", false
}

// imported is the package that a name stands for in a file, nil for one that
// isn't loaded.
func (l *loader) imported(f *file, name string) *source {
	for _, spec := range f.syntax.Imports {
		importPath, _ := strconv.Unquote(spec.Path.Value)
		if src := l.byPath[importPath]; src != nil && (spec.Name == nil && src.name == name || spec.Name != nil && spec.Name.Name == name) {
			return src
		}
	}
	return nil
}

// checkRegistered reports a package that registers its types in another group,
// or as another version, than what is generated of it names. It says so of
// those tags that would name the group if they stood in doc.go, too, and returns
// the others.
func (l *loader) checkRegistered(p *candidate, elsewhere []marker.Tag) []marker.Tag {
	if p.input.Explicit {
		return elsewhere
	}
	r, hub := l.registered(p.src), p.hub()
	dir, version := path.Split(p.src.path)
	folder := path.Base(dir)
	if hub {
		folder = version
	}
	// What has a SchemeGroupVersion is asked for it, but by apply configurations.
	if r.hasVersion && !hub && r.version != version && (!p.pkg.HasSchemeGroupVersion || l.cfg.has(ApplyConfigurations)) {
		l.lax(p.pkg.Pos, "the version of package %s is %q as its %s says, and %q as its folder; rename one of them",
			p.src.path, r.version, r.by, version)
	}
	group, where := p.tags.GroupName, "doc.go says"
	if !p.tags.HasGroupName {
		group, where = folder, "without +groupName in doc.go it is that of the folder,"
	}
	if !r.hasGroup || group == r.group {
		return elsewhere
	}
	pos, also := p.groupPosition(), ""
	names := func(tag marker.Tag) bool { return tag.Name == "groupName" }
	if i := slices.IndexFunc(elsewhere, names); i >= 0 && !p.tags.HasGroupName {
		pos, also = elsewhere[i].Pos, ": elsewhere, as here, it has no effect"
	}
	l.lax(pos, "the group of package %s is %q as its %s says, and %s %q; write // +groupName=%s in the package's doc.go%s",
		p.src.path, r.group, r.by, where, group, r.group, also)
	return slices.DeleteFunc(elsewhere, names)
}
