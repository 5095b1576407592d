package model

import (
	"go/ast"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/kubewright/kubewright/generators/internal/marker"
)

// versionName matches the folders that kube_codegen.sh takes for versions.
var versionName = regexp.MustCompile(`^v[0-9]+((alpha|beta)[0-9]+)?$`)

// leaveOutHubs returns the packages without hubs that only a wildcard matches: API servers
// have their internal types above the folders of versions, and hardly anybody wants them in
// the clientset of the versions. The compatible binaries keep all packages that a wildcard
// matches.
func (s *session) leaveOutHubs(packages []*candidate) []*candidate {
	if !s.cfg.Strict {
		return packages
	}
	return slices.DeleteFunc(packages, func(p *candidate) bool {
		if !p.wildcard || versionName.MatchString(path.Base(p.src.path)) || !p.src.internal() {
			return false
		}
		if len(s.cfg.IncludedTypes) > 0 {
			p.tags, _ = s.packageTags(p.src)
		}
		_, included := s.cfg.IncludedTypes[p.groupVersion()] // IncludedTypes names the package, too
		tag, ok := s.clientTag(p.src)
		if ok = ok && !included; ok {
			s.hubs = append(s.hubs, p)
			s.Warnf(tag.Pos,
				"package %s has internal types (no json tags), so %s leaves it out; name the package, too, if "+
					"its types are to have clients",
				p.src.path, p.input.Pattern)
		}
		return ok
	})
}

// internal reports whether a package has objects and none of them has json tags.
func (s *source) internal() bool {
	internal := false
	for _, name := range s.typeNames() {
		switch tagged, object := s.taggedObject(name); {
		case object && tagged:
			return false
		case object:
			internal = true
		}
	}
	return internal
}

// taggedObject reports whether a type is a struct with an ObjectMeta, and whether that has
// a json tag.
func (s *source) taggedObject(name string) (tagged, object bool) {
	st, ok := s.types[name].spec.Type.(*ast.StructType)
	if !ok {
		return false, false
	}
	field := (&structType{fields: st.Fields.List}).field("ObjectMeta")
	if field == nil {
		return false, false
	}
	return strings.Contains(tagText(field), "json:"), true
}

// clientTag returns the first +genclient of a package.
func (s *session) clientTag(p *source) (marker.Tag, bool) {
	for _, f := range p.files {
		if f.syntax == nil {
			continue
		}
		for _, group := range f.syntax.Comments {
			if !mentions(group, "genclient") {
				continue
			}
			for _, tag := range marker.Scan(s.fset, group) {
				if tag.Name == "genclient" {
					return tag, true
				}
			}
		}
	}
	return marker.Tag{}, false
}

// hub reports whether a package has internal types, which no client applies: the first
// type with an ObjectMeta decides, by whether that has a json tag (isInternalPackage in
// applyconfiguration-gen's targets.go).
func (p *candidate) hub() bool {
	for _, name := range p.src.typeNames() {
		if tagged, object := p.src.taggedObject(name); object {
			return !tagged
		}
	}
	return false
}
