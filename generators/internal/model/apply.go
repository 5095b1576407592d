package model

import (
	"go/token"
	"path"
	"slices"
	"strings"

	"k8s.io/gengo/v2/namer"

	"github.com/kubewright/kubewright/generators/internal/marker"
)

// Apply is the model of apply configurations.
type Apply struct {
	// Packages are the packages of the input that have types with an apply
	// configuration, sorted by API group and version.
	Packages []*ApplyPackage
	// Kinds are all types with a client, with or without an apply configuration.
	Kinds []TypeName
	// Types are the types of Packages and Kinds and all types reachable from them.
	Types map[TypeName]*Type
}

// Configured returns the types that get an apply configuration.
func (a *Apply) Configured() map[TypeName]bool {
	types := map[TypeName]bool{}
	for _, p := range a.Packages {
		for _, t := range p.Types {
			types[t.TypeName] = true
		}
	}
	return types
}

// ApplyPackage is a package with types that get apply configurations.
type ApplyPackage struct {
	*Package
	// Folder is the folder of the apply configurations: the last two elements of the
	// import path, in lower case, by which client-gen finds them. Name is the name of
	// the package in it.
	Folder, Name string
	// Group and APIVersion are the API group and version, GoGroupName is the Go name
	// of the group.
	Group, APIVersion, GoGroupName string
	// Types are sorted by name, ignoring case.
	Types []*ApplyType
}

// ApplyType is a type that gets an apply configuration.
type ApplyType struct {
	*Type
	// Kind is nil for a type without a client.
	Kind *Kind
	// Root is true for kinds with a verb that applies.
	Root bool
	// Elsewhere is true for a type of [Config.AppliedElsewhere] that is in a package of the
	// input and reachable from no kind. It gets an apply configuration here, too, as
	// upstream's refGraphForReachableTypes starts from the external types; but references
	// to it use the external one.
	Elsewhere bool
	// NoExtract is true if the names of the Extract functions are taken.
	NoExtract bool
	// File is the base name of the generated file, without ".go".
	File string
}

var (
	objectMeta = TypeName{"k8s.io/apimachinery/pkg/apis/meta/v1", "ObjectMeta"}
	// noApply are types that never get an apply configuration, as they hold any object
	// (excludeTypes in applyconfiguration-gen's refgraph.go).
	noApply = []TypeName{{"k8s.io/apimachinery/pkg/runtime", "RawExtension"},
		{"k8s.io/apimachinery/pkg/runtime", "Unknown"}}
)

// applyReader finds the types that get apply configurations.
type applyReader struct{ *session }

// read returns the types that get apply configurations: structs with json tags that are
// reachable from a kind with the verb apply or applyStatus, or from the input of a method
// that applies. These are the rules of refGraphForReachableTypes in applyconfiguration-gen.
func (a *applyReader) read(packages []*candidate) *Apply {
	r := newTypeReader(a.sources)
	model := &Apply{Types: r.types}
	kinds := map[TypeName]*Kind{}
	var wanted []*candidate
	// local are inputs of methods whose tags name no package. For such an input upstream
	// copies the kind under the input's name: the input gets an apply configuration, but
	// the fields that are followed are those of the kind. unapplied are the kinds that are
	// roots for that reason only, and get none themselves.
	var roots, local, unapplied []TypeName
	for _, p := range packages {
		if p.hub() {
			continue
		}
		applied := a.cfg.wantsApply(p)
		if applied {
			wanted = append(wanted, p)
		}
		for _, k := range p.kinds {
			name := TypeName{p.src.path, k.Name}
			model.Kinds = append(model.Kinds, name)
			if !applied {
				continue
			}
			kinds[name] = k
			if k.applies {
				roots = append(roots, name)
			}
			for _, m := range k.Methods {
				input := TypeName{m.Input.Path, m.Input.Name}
				switch {
				case m.Verb != "apply":
				case !m.localInput:
					roots = append(roots, input)
				case k.applies:
					local = append(local, input)
				default:
					roots, local = append(roots, name), append(local, input)
					unapplied = append(unapplied, name)
				}
			}
		}
	}
	// Of the types that only local inputs lead to, the inputs themselves get an apply
	// configuration and the others don't.
	r.read(roots)
	reached := r.reachable(roots, a.usedAsIs)
	for _, name := range unapplied {
		delete(reached, name)
	}
	r.read(local)
	for _, name := range local {
		reached[name] = r.types[name]
	}
	elsewhere := a.elsewhere(wanted, reached)
	r.read(elsewhere)
	for _, name := range elsewhere {
		reached[name] = r.types[name]
	}
	for _, p := range wanted {
		if ap := a.applyPackage(p, reached, kinds); ap != nil {
			for _, t := range ap.Types {
				t.Elsewhere = slices.Contains(elsewhere, t.TypeName)
			}
			model.Packages = append(model.Packages, ap)
		}
	}
	r.read(model.Kinds)
	slices.SortStableFunc(model.Packages, func(a, b *ApplyPackage) int {
		return strings.Compare(strings.ToLower(NonEmptyGroup(a.Group)+"\x00"+a.APIVersion),
			strings.ToLower(NonEmptyGroup(b.Group)+"\x00"+b.APIVersion))
	})
	a.check(model)
	a.checkUnnamed(model)
	return model
}

// usedAsIs reports whether the apply configurations of others have the type itself in their fields, and not
// an apply configuration of it: that would send the fields of the type, which are not what it writes. The
// compatible binaries do as upstream does.
func (a *applyReader) usedAsIs(t *Type) bool { return a.cfg.Strict && t.Marshaler != "" }

// checkUnnamed warns of fields of unnamed types, which lose their type in apply
// configurations.
func (a *applyReader) checkUnnamed(model *Apply) {
	configured := model.Configured()
	var fields func(*Type, int)
	fields = func(t *Type, hops int) {
		for _, f := range t.Fields {
			j, ok := f.JSON()
			switch {
			case !ok || !f.Embedded && !token.IsExported(f.Name):
				// It isn't part of the apply configuration.
			case !j.Inline || configured[f.Type.Name]:
				f.Type.literals(func(pos token.Position) {
					a.Warnf(pos,
						"in apply configurations a field of an unnamed type takes any value; declare a type for it")
				})
			case model.Types[f.Type.Name] != nil && hops < maxHops:
				// The fields of a struct without an apply configuration are repeated.
				fields(model.Types[f.Type.Name], hops+1)
			}
		}
	}
	for _, p := range model.Packages {
		for _, t := range p.Types {
			fields(t.Type, 0)
		}
	}
}

// elsewhere returns the types of AppliedElsewhere that are in packages with apply
// configurations and reachable from no kind.
func (a *applyReader) elsewhere(packages []*candidate, reached map[TypeName]*Type) []TypeName {
	var names []TypeName
	for name := range a.cfg.AppliedElsewhere {
		declares := func(p *candidate) bool {
			return p.src.path == name.Path && p.src.types[name.Name] != nil
		}
		if reached[name] == nil && slices.ContainsFunc(packages, declares) {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, func(a, b TypeName) int {
		return strings.Compare(a.Path+"."+a.Name, b.Path+"."+b.Name)
	})
	return names
}

// applyPackage returns the apply configurations of a package, nil if it has none.
func (a *applyReader) applyPackage(p *candidate, types map[TypeName]*Type,
	kinds map[TypeName]*Kind) *ApplyPackage {
	// From the path alone: applyconfiguration-gen has no --input.
	dir, version := path.Split(p.src.path)
	group := path.Base(dir)
	if dir == "" {
		group = ""
	}
	ap := &ApplyPackage{Package: p.pkg, Folder: strings.ToLower(path.Join(group, version)),
		Name:  strings.ToLower(version),
		Group: group, APIVersion: version}
	if p.tags.HasGroupName {
		ap.Group = p.tags.GroupName
	}
	ap.GoGroupName, _ = goName(ap.Group)
	if p.tags.GroupGoName != "" {
		ap.GoGroupName = namer.IC(p.tags.GroupGoName)
	}
	for name, t := range types {
		if name.Path != p.src.path || t.alias || len(t.Params) > 0 || !t.Struct || !t.HasJSON() ||
			slices.Contains(noApply, name) || a.usedAsIs(t) {
			continue
		}
		if t.Marshaler != "" {
			a.Warnf(t.Pos,
				"type %s encodes itself with %s, but its apply configuration sends its fields; kubewright "+
					"generate uses the type itself instead",
				name.Name, t.Marshaler)
		}
		kind := kinds[name]
		// hasObjectMetaField in applyconfiguration-gen's targets.go.
		if kind != nil && !t.Embeds(objectMeta) {
			// An object is applied by its name, which is in ObjectMeta.
			if kind.applies && !slices.Contains(p.bare, kind) {
				a.Warnf(kind.Pos,
					"type %s gets no apply configuration, because it doesn't embed "+
						"k8s.io/apimachinery/pkg/apis/meta/v1.ObjectMeta directly; embed it, or add "+
						"// +genclient:skipVerbs=apply,applyStatus",
					kind.Name)
			}
			continue
		}
		ap.Types = append(ap.Types, &ApplyType{Type: t, Kind: kind, Root: kind != nil && kind.applies,
			File: fileName(strings.ToLower(name.Name))})
	}
	if len(ap.Types) == 0 {
		return nil
	}
	slices.SortFunc(ap.Types, func(a, b *ApplyType) int {
		return strings.Compare(strings.ToLower(a.TypeName.Name)+"\x00"+a.TypeName.Name,
			strings.ToLower(b.TypeName.Name)+"\x00"+b.TypeName.Name)
	})
	return ap
}

// check reports apply configurations that would be generated to the same folder or file,
// or that would lack fields.
func (a *applyReader) check(model *Apply) {
	folders := map[string]*ApplyPackage{}
	for _, p := range model.Packages {
		if other := folders[p.Folder]; other != nil {
			a.Errorf(p.Pos,
				"packages %s and %s would both be generated to the folder %s; rename the folder of one",
				other.Path, p.Path, p.Folder)
		}
		folders[p.Folder] = p
		for _, t := range p.Types {
			a.checkEmbedded(t.Type, model.Types)
		}
		a.checkNames(p)
		a.checkTags(p)
		for i, t := range p.Types[1:] {
			if other := p.Types[i]; other.File == t.File {
				a.Errorf(t.Pos,
					"types %s and %s would both be generated to %s.go; rename one",
					other.TypeName.Name, t.TypeName.Name, t.File)
			}
		}
	}
}

// checkEmbedded reports embedded structs that can't be found: neither the With methods nor
// the schema would have their fields.
func (a *applyReader) checkEmbedded(t *Type, types map[TypeName]*Type) {
	for _, f := range t.Fields {
		if _, ok := f.JSON(); !ok || !f.Embedded {
			continue
		}
		name := f.Type.Deref().Name
		// A field that can't be copied has an error already.
		refused := func(p marker.Problem) bool { return !p.Warning && p.Pos == f.Pos }
		if inner := types[name]; inner != nil && inner.Pos.IsValid() || isStandard(name.Path) ||
			slices.ContainsFunc(a.Problems, refused) {
			continue
		}
		a.StrictErrorf(f.Pos,
			"the embedded type %s can't be found: its fields would be missing from the apply configuration "+
				"of %s; go get its package",
			name.Path+"."+name.Name, t.Name)
	}
}
