package model

import (
	"go/token"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/gengo/v2/namer"
)

// grouper assigns packages to groups and versions.
type grouper struct{ *session }

// group adds the groups and versions. Packages belong to one group if their paths name it
// by the same element: that is how client-gen and informer-gen group them, regardless of
// +groupName.
func (g *grouper) group(api *API, packages []*candidate) {
	groups := map[string]*Group{}
	for _, p := range packages {
		api.Packages = append(api.Packages, p.pkg)
		if !g.cfg.wants(p) {
			continue
		}
		element, version, ok := g.groupAndVersion(p)
		if !ok {
			continue
		}
		group := groups[element]
		if group == nil {
			group = &Group{Name: element, PackageName: NonEmptyGroup(element),
				GoPackage: goPackage(NonEmptyGroup(element)), element: element}
			if p.tags.HasGroupName {
				group.Name = p.tags.GroupName
			}
			groups[element] = group
			api.Groups = append(api.Groups, group)
		}
		g.addVersion(p, group, version)
	}
	slices.SortStableFunc(api.Groups, func(a, b *Group) int { return strings.Compare(a.element, b.element) })
}

// groupAndVersion returns the path element that names the group, and the version: those of the
// flag, or the last two elements of the import path. Hub types have no version, and the
// last element names their group. ok is false if the path is too short.
func (g *grouper) groupAndVersion(p *candidate) (element, version string, ok bool) {
	// The first kind decides whether the types are internal. Upstream uses a random one
	// (objectMetaForPackage ranges over a map), so packages that mix the two are broken
	// there as well.
	i := slices.IndexFunc(p.kinds, func(k *Kind) bool { return k.ObjectMeta.Name != "" })
	p.internal = i >= 0 && p.kinds[i].hub
	if p.input.Explicit {
		if len(p.kinds) == 0 { // a client without kinds: no type can decide
			p.internal = p.input.Version == ""
		}
		return p.input.Group, p.input.Version, true
	}
	dir, last := path.Split(p.src.path)
	if p.internal {
		return last, "", true
	}
	if dir == "" {
		g.Errorf(p.pkg.Pos,
			"the import path %s does not end in a group and a version; move the types to a folder like "+
				"apis/example/v1",
			p.src.path)
		return "", "", false
	}
	return path.Base(dir), last, true
}

// addVersion adds a package to its group.
func (g *grouper) addVersion(p *candidate, group *Group, name string) {
	v := &Version{Group: group, Name: name, GoName: namer.IC(name), PackageName: strings.ToLower(name),
		Package: p.pkg, Internal: p.internal, Kinds: p.kinds,
		hasGroupName: p.tags.HasGroupName}
	if name == "" { // Version.NonEmpty and PackageName in client-gen's types.go
		v.GoName, v.PackageName = "InternalVersion", "internalversion"
	}
	own := group.element
	if p.tags.HasGroupName {
		own = p.tags.GroupName
	}
	// Client-gen names all versions after the group of the first one (applyGroupOverrides),
	// so the clients of the others would send their requests to the wrong group.
	mixed := own != group.Name
	if mixed && !p.misregistered {
		advice := "give each group a folder of its own"
		if first := group.Versions[0]; !p.tags.HasGroupName || !first.hasGroupName {
			advice += ", or write the same // +groupName in the doc.go of both"
		}
		g.StrictErrorf(p.groupPosition(),
			"package %s is of group %q, but %s beside it is of group %q; %s",
			p.src.path, own, group.Versions[0].Package.Path, group.Name, advice)
	}
	if p.input.Explicit {
		// Client-gen takes the group's name from its first version.
		own = group.Name
	}
	goGroup, ok := goName(own)
	if p.tags.GroupGoName != "" {
		goGroup = namer.IC(p.tags.GroupGoName)
		ok = exportedIdentifier(goGroup)
	}
	if !ok {
		g.Errorf(p.groupPosition(),
			"%q, the Go name of group %q, is not a Go identifier; write // +groupGoName=Name in doc.go",
			goGroup, own)
	}
	if !exportedIdentifier(v.GoName) || !token.IsIdentifier(v.PackageName) {
		g.Errorf(p.pkg.Pos,
			"version %q of package %s is not a Go identifier; name the folder like v1 or v1beta1",
			name, p.src.path)
	}
	// Client-gen has a Go name for each version (groupGoNames in GetTargets), informer-gen
	// one for the group, which each version overwrites.
	v.GoGroupName = goGroup
	if group.GoName != "" && group.GoName != goGroup && !mixed {
		g.StrictErrorf(p.groupPosition(),
			"group %q has the Go name %s here and %s in %s; write the same +groupGoName in both",
			group.Name, goGroup, group.GoName, group.Versions[0].Package.Path)
	}
	group.GoName = goGroup
	group.Versions = append(group.Versions, v)
	p.pkg.Version = v
	for _, kind := range p.kinds {
		kind.Version = v
		if group.hasFile(kind.File) {
			kind.File += "_kind"
		}
	}
}

// hasFile reports whether the name of a kind's file is that of another generated file, or
// that of a hand-written expansion.
func (g *Group) hasFile(name string) bool {
	return name == strings.ToLower(g.PackageName)+"_client" || name == "expansion_generated" ||
		strings.HasSuffix(name, "_expansion")
}

// position is where problems of the whole package are reported: the package clause of
// doc.go, or that of the first file, or the folder relative to base.
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

// groupPosition is the position of the tag that names the package's group.
func (p *candidate) groupPosition() token.Position {
	switch {
	case p.tags.GroupGoPos.IsValid():
		return p.tags.GroupGoPos
	case p.tags.GroupPos.IsValid():
		return p.tags.GroupPos
	}
	return p.pkg.Pos
}
