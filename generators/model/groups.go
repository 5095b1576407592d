package model

import (
	"go/token"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/gengo/v2/namer"
)

// assemble puts the packages together to groups and versions, as upstream
// does: packages belong to one group when the same element of their input's
// path names it.
func (l *loader) assemble(packages []*candidate) *API {
	api := &API{}
	groups := map[string]*Group{}
	for _, p := range packages {
		api.Packages = append(api.Packages, p.pkg)
		if !l.wanted(p) {
			continue
		}
		element, version, ok := l.place(p)
		if !ok {
			continue
		}
		group := groups[element]
		if group == nil {
			group = &Group{Name: element, PackageName: nonEmptyGroup(element), GoPackage: goPackage(nonEmptyGroup(element)), element: element}
			if p.tags.HasGroupName {
				group.Name = p.tags.GroupName
			}
			groups[element] = group
			api.Groups = append(api.Groups, group)
		}
		l.version(p, group, version)
	}
	slices.SortStableFunc(api.Groups, func(a, b *Group) int { return strings.Compare(a.element, b.element) })
	return api
}

// wanted reports whether a package has a place in the output. One that a flag
// names has one even without types: client-gen writes an empty client for it.
func (l *loader) wanted(p *candidate) bool {
	if !(p.pkg.Client && l.cfg.has(Clients) || p.pkg.Lister && l.cfg.has(Listers) || p.pkg.Informer && l.cfg.has(Informers)) {
		return false
	}
	return len(p.kinds) > 0 || p.input.Explicit && !l.cfg.Strict
}

// place finds the group's element of the path and the version: from the
// flag, or else the last two elements of the import path; for hub types, which
// have no version, the last one.
func (l *loader) place(p *candidate) (element, version string, ok bool) {
	i := slices.IndexFunc(p.kinds, func(k *Kind) bool { return k.ObjectMeta.Name != "" })
	p.internal = i >= 0 && p.kinds[i].hub
	if p.input.Explicit {
		if len(p.kinds) == 0 {
			p.internal = p.input.Version == ""
		}
		return p.input.Group, p.input.Version, true
	}
	dir, last := path.Split(p.src.path)
	if p.internal {
		return last, "", true
	}
	if dir == "" {
		l.fail(p.pkg.Pos, "the import path %s does not end in a group and a version; move the types to a folder like apis/example/v1", p.src.path)
		return "", "", false
	}
	return path.Base(dir), last, true
}

// version adds a package to its group.
func (l *loader) version(p *candidate, group *Group, name string) {
	v := &Version{Group: group, Name: name, GoName: namer.IC(name), PackageName: strings.ToLower(name),
		Package: p.pkg, Internal: p.internal, Kinds: p.kinds}
	if name == "" {
		v.GoName, v.PackageName = "InternalVersion", "internalversion"
	}
	own := group.element
	if p.tags.HasGroupName {
		own = p.tags.GroupName
	}
	mixed := own != group.Name
	if mixed {
		l.lax(p.groupPosition(), "package %s is of group %q, but %s beside it is of group %q; give each group a folder of its own",
			p.src.path, own, group.Versions[0].Package.Path, group.Name)
	}
	if p.input.Explicit {
		own = group.Name
	}
	goGroup, ok := goName(own)
	if p.tags.GroupGoName != "" {
		goGroup = namer.IC(p.tags.GroupGoName)
		ok = exportedIdentifier(goGroup)
	}
	if !ok {
		l.fail(p.groupPosition(), "%q is no Go identifier to name group %q by; write // +groupGoName=Name in doc.go", goGroup, own)
	}
	if !exportedIdentifier(v.GoName) || !token.IsIdentifier(v.PackageName) {
		l.fail(p.pkg.Pos, "version %q of package %s is no Go identifier; name the folder like v1 or v1beta1", name, p.src.path)
	}
	v.GoGroupName = goGroup
	if group.GoName != "" && group.GoName != goGroup && !mixed {
		l.lax(p.groupPosition(), "group %q has the Go name %s here and %s in %s; write the same +groupGoName in both", group.Name, goGroup, group.GoName, group.Versions[0].Package.Path)
	}
	group.GoName = goGroup
	group.Versions = append(group.Versions, v)
	p.pkg.Version = v
	for _, kind := range p.kinds {
		kind.Version = v
	}
}

// position is where problems of the whole package are reported: at the
// package clause of doc.go, or of the first file, relative to base.
func (p *candidate) position(base string) token.Position {
	for _, f := range p.src.files {
		if f.syntax != nil && f.isDoc() {
			return p.src.fset.Position(f.syntax.Package)
		}
	}
	for _, f := range p.src.files {
		if f.syntax != nil {
			return p.src.fset.Position(f.syntax.Package)
		}
	}
	if rel, err := filepath.Rel(base, p.src.dir); err == nil && filepath.IsLocal(rel) {
		return token.Position{Filename: rel}
	}
	return token.Position{Filename: p.src.dir}
}

// groupPosition is the place of what names the package's group.
func (p *candidate) groupPosition() token.Position {
	switch {
	case p.tags.GroupGoPos.IsValid():
		return p.tags.GroupGoPos
	case p.tags.GroupPos.IsValid():
		return p.tags.GroupPos
	}
	return p.pkg.Pos
}
