package model

import (
	"go/ast"
	"go/token"
	"maps"
	"path"
	"slices"
	"strconv"

	"github.com/kubewright/kubewright/generators/internal/marker"
)

// registeredGroup is the group and version under which a package registers its types, as
// far as they are constants in the source. by is the declaration that has them.
type registeredGroup struct {
	group, version       string
	hasGroup, hasVersion bool
	by                   string
}

// registeredGroup looks at the variables that nearly every register.go, and the
// groupversion_info.go of kubebuilder, declare.
func (s *session) registeredGroup(p *source) registeredGroup {
	for _, name := range []string{"SchemeGroupVersion", "GroupVersion"} {
		r := registeredGroup{by: "variable " + name}
		lit, f := groupVersionLiteral(p, name)
		if lit == nil {
			continue
		}
		for i, element := range lit.Elts {
			// Without keys the elements are in the order of the fields.
			key, value := [...]string{"Group", "Version"}[min(i, 1)], element
			if pair, ok := element.(*ast.KeyValueExpr); ok {
				key, value = typeName(pair.Key), pair.Value
			}
			switch key {
			case "Group":
				r.group, r.hasGroup = s.stringValue(p, f, value)
			case "Version":
				r.version, r.hasVersion = s.stringValue(p, f, value)
			}
		}
		if r.hasGroup || r.hasVersion {
			return r
		}
	}
	// Without such a variable there may be the constant that Kubernetes' own packages have.
	group, err := strconv.Unquote(p.constant("GroupName"))
	return registeredGroup{by: "constant GroupName", group: group, hasGroup: err == nil}
}

// groupVersionLiteral returns the GroupVersion literal that a variable of the package is
// set to, through other variables if need be.
func groupVersionLiteral(s *source, name string) (*ast.CompositeLit, *file) {
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

// stringValue returns the value of a string literal or of a constant, also of another
// package.
func (s *session) stringValue(p *source, f *file, expr ast.Expr) (string, bool) {
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
			if p = s.imported(f, typeName(e.X)); p == nil {
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
			expr = call.Args[0] // a call in a constant is a conversion
		}
	}
	return "", false
}

// imported returns the package that a name stands for in a file, nil if it can't be found.
// The compatible binaries, which can only warn, don't read one for this purpose: that
// costs a call of the go command.
func (s *session) imported(f *file, name string) *source {
	importPath := s.importPath(f, name)
	if s.cfg.Strict && importPath != "" {
		return s.pkg(importPath)
	}
	return s.byPath[importPath]
}

// checkRegisteredGroups reports packages whose types are registered in another group or
// version than the one that doc.go or the folder names. If a +groupName outside of doc.go is
// the cause, the message says so. It warns of other package tags outside of doc.go.
func (s *session) checkRegisteredGroups(packages []*candidate) {
	votes := map[string]map[string]int{}
	for _, p := range packages {
		if p.input.Explicit || p.registers || len(p.kinds) == 0 || !s.groupMatters(p) {
			continue
		}
		p.registered = s.registeredGroup(p.src)
		of := votes[p.groupFolder()]
		if of == nil {
			of = map[string]int{}
			votes[p.groupFolder()] = of
		}
		if p.tags.HasGroupName {
			of[p.tags.GroupName]++
		}
		if p.registered.hasGroup {
			of[p.registered.group]++
		}
	}
	for _, p := range packages {
		s.checkRegistered(p, votes[p.groupFolder()])
		if len(p.kinds) == 0 && !p.helped {
			continue // nothing depends on its group
		}
		for _, tag := range p.elsewhere {
			if tag.Name == "groupName" && s.cfg.makes(Definitions) && !p.registers {
				continue // definitions take the group from any file, and are compared with clients
			}
			s.Warnf(tag.Pos, "+%s is ignored here; it has an effect in the package's doc.go only", tag.Text)
		}
	}
}

// groupMatters reports whether anything depends on the group that doc.go or the folder
// names. Clients send requests to the group and version of SchemeGroupVersion, if the
// package has that; apply configurations have both as strings.
func (s *session) groupMatters(p *candidate) bool {
	return !p.pkg.HasSchemeGroupVersion || s.cfg.has(ApplyConfigurations) || p.tags.HasGroupName
}

// groupFolder is the import path of the folder whose name is that of the group.
func (p *candidate) groupFolder() string {
	if p.hub() {
		return p.src.path
	}
	return path.Dir(p.src.path)
}

// checkRegistered reports what is wrong with a package, given how often each group is named
// in the packages of its folder: in doc.go, and in the registration of the types.
func (s *session) checkRegistered(p *candidate, votes map[string]int) {
	r, version := p.registered, path.Base(p.src.path)
	// Clients take the version from SchemeGroupVersion if there is one, so the folder's
	// doesn't matter to them.
	if r.hasVersion && !p.hub() && r.version != version &&
		(!p.pkg.HasSchemeGroupVersion || s.cfg.has(ApplyConfigurations)) {
		s.StrictErrorf(p.pkg.Pos,
			"package %s registers its types as version %q (%s), but its folder names version %q; rename "+
				"one of them",
			p.src.path, r.version, r.by, version)
	}
	folder := path.Base(p.groupFolder())
	group, source := p.tags.GroupName, "doc.go names"
	if !p.tags.HasGroupName {
		group, source = folder, "without +groupName in doc.go its folder names"
	}
	if !r.hasGroup || group == r.group {
		return
	}
	pos, also := p.groupPosition(), ""
	names := func(tag marker.Tag) bool { return tag.Name == "groupName" }
	if i := slices.IndexFunc(p.elsewhere, names); i >= 0 && !p.tags.HasGroupName {
		pos, also = p.elsewhere[i].Pos, "; in other files, as here, the tag has no effect"
	}
	p.elsewhere, p.misregistered = slices.DeleteFunc(p.elsewhere, names), true
	s.StrictErrorf(pos, "package %s registers its types in group %q (%s), but %s group %q; %s%s", p.src.path,
		r.group, r.by, source, group, p.groupAdvice(folder, votes), also)
}

// groupAdvice returns advice on how to make doc.go agree with the group that the types are
// registered in. The group that most packages of the folder name is most likely right.
func (p *candidate) groupAdvice(folder string, votes map[string]int) string {
	likely := p.registered.group
	for _, name := range slices.Sorted(maps.Keys(votes)) {
		if votes[name] > votes[likely] {
			likely = name
		}
	}
	write := "write // +groupName=" + likely + " in the package's doc.go"
	// The Go name follows from the group, unless there is a tag for it.
	old, _ := goName(folder)
	if name, _ := goName(likely); !p.tags.HasGroupName && p.tags.GroupGoName == "" && name != old {
		write += ", with // +groupGoName=" + old + " if the names of methods are to stay"
	}
	tagged := p.tags.HasGroupName && likely == p.tags.GroupName
	switch {
	case likely != p.registered.group && tagged:
		return "change the " + p.registered.by
	case likely != p.registered.group:
		return "others beside it are of group " + strconv.Quote(likely) + ", so change the " + p.registered.by +
			", and " + write
	case p.tags.HasGroupName && votes[likely] == votes[p.tags.GroupName]:
		return "change one of the two"
	}
	return write
}
