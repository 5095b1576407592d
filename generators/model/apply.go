package model

import (
	"go/ast"
	"maps"
	"path"
	"slices"
	"strings"

	"k8s.io/gengo/v2/namer"
)

// Apply is what apply configurations are made of.
type Apply struct {
	// Packages are those of the input with types that get one, sorted by
	// their API: group, then version.
	Packages []*ApplyPackage
	// Kinds are all types with a client, in order, whether or not they get one.
	Kinds []TypeName
	// Types are these, those, and all that can be reached from them.
	Types map[TypeName]*Type
}

// Configured are the types that get an apply configuration.
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
	// Folder is where they go: the last two elements of the import path, in
	// lower case. Name is the package there.
	Folder, Name string
	// Group and APIVersion are the API's; GoGroupName names the group in Go.
	Group, APIVersion, GoGroupName string
	// Types are sorted without regard to case.
	Types []*ApplyType
}

// ApplyType is a type that gets an apply configuration.
type ApplyType struct {
	*Type
	// Kind is nil for a type without a client.
	Kind *Kind
	// Root is true for kinds with a verb that applies.
	Root bool
	// Elsewhere is true for a type of [Config.AppliedElsewhere] that no kind
	// leads to. Its package is in the input, so it gets an apply configuration
	// here, too, but what refers to it means the other.
	Elsewhere bool
	// File names the generated file, without ".go".
	File string
}

var (
	objectMeta = TypeName{"k8s.io/apimachinery/pkg/apis/meta/v1", "ObjectMeta"}
	// noApply are the types that never get an apply configuration: they
	// hold any object.
	noApply = []TypeName{{"k8s.io/apimachinery/pkg/runtime", "RawExtension"}, {"k8s.io/apimachinery/pkg/runtime", "Unknown"}}
)

// apply works out which types get apply configurations: structs with json tags
// that a kind with the verb apply or applyStatus leads to, or the input of a
// method that applies.
func (l *loader) apply(packages []*candidate) *Apply {
	r := newTypeReader(&l.sources)
	a := &Apply{Types: r.types}
	kinds := map[TypeName]*Kind{}
	var wanted []*candidate
	// local are inputs of methods that have no package in their tag: upstream
	// doesn't look into those, but into the kinds that have the methods.
	var roots, local, unapplied []TypeName
	for _, p := range packages {
		if p.hub() {
			continue
		}
		applied := l.applied(p)
		if applied {
			wanted = append(wanted, p)
		}
		for _, k := range p.kinds {
			name := TypeName{p.src.path, k.Name}
			a.Kinds = append(a.Kinds, name)
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
					roots, local, unapplied = append(roots, name), append(local, input), append(unapplied, name)
				}
			}
		}
	}
	r.read(roots)
	reached := maps.Clone(r.types)
	for _, name := range unapplied {
		delete(reached, name)
	}
	r.read(local)
	for _, name := range local {
		reached[name] = r.types[name]
	}
	elsewhere := l.elsewhere(wanted, reached)
	r.read(elsewhere)
	for _, name := range elsewhere {
		reached[name] = r.types[name]
	}
	for _, p := range wanted {
		if ap := l.applyPackage(p, reached, kinds); ap != nil {
			for _, t := range ap.Types {
				t.Elsewhere = slices.Contains(elsewhere, t.TypeName)
			}
			a.Packages = append(a.Packages, ap)
		}
	}
	for _, pos := range r.unnamed {
		l.warn(l.fset.Position(pos), "apply configurations take any value for a type without a name; declare a type for it")
	}
	r.read(a.Kinds)
	slices.SortStableFunc(a.Packages, func(a, b *ApplyPackage) int {
		return strings.Compare(strings.ToLower(nonEmptyGroup(a.Group)+"\x00"+a.APIVersion), strings.ToLower(nonEmptyGroup(b.Group)+"\x00"+b.APIVersion))
	})
	l.checkApply(a)
	return a
}

// types reads the kinds and all types that they lead to.
func (l *loader) types(packages []*candidate) map[TypeName]*Type {
	r := newTypeReader(&l.sources)
	var kinds []TypeName
	for _, p := range packages {
		for _, k := range p.kinds {
			kinds = append(kinds, TypeName{p.src.path, k.Name})
		}
	}
	r.read(kinds)
	return r.types
}

// elsewhere are the types of AppliedElsewhere that no kind leads to, as far as
// they are in packages that get apply configurations.
func (l *loader) elsewhere(packages []*candidate, reached map[TypeName]*Type) []TypeName {
	var names []TypeName
	for _, name := range l.cfg.AppliedElsewhere {
		declares := func(p *candidate) bool { return p.src.path == name.Path && p.src.types[name.Name] != nil }
		if reached[name] == nil && slices.ContainsFunc(packages, declares) {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, func(a, b TypeName) int { return strings.Compare(a.Path+"."+a.Name, b.Path+"."+b.Name) })
	return names
}

// applied reports whether apply configurations are to be generated for a package.
func (l *loader) applied(p *candidate) bool {
	return l.cfg.has(ApplyConfigurations) && !p.tags.OptedOut["applyconfiguration-gen"]
}

// hub reports whether a package holds internal types, which nobody applies:
// one of its types has an ObjectMeta without a json tag.
func (p *candidate) hub() bool {
	for _, name := range p.src.typeNames() {
		st, ok := p.src.types[name].spec.Type.(*ast.StructType)
		if !ok {
			continue
		}
		if field := (&structType{fields: st.Fields.List}).field("ObjectMeta"); field != nil {
			return !strings.Contains(tagText(field), "json:")
		}
	}
	return false
}

func (l *loader) applyPackage(p *candidate, types map[TypeName]*Type, kinds map[TypeName]*Kind) *ApplyPackage {
	dir, version := path.Split(p.src.path)
	group := path.Base(dir)
	if dir == "" {
		group = ""
	}
	ap := &ApplyPackage{Package: p.pkg, Folder: strings.ToLower(path.Join(group, version)), Name: strings.ToLower(version),
		Group: group, APIVersion: version}
	if p.tags.HasGroupName {
		ap.Group = p.tags.GroupName
	}
	ap.GoGroupName, _ = goName(ap.Group)
	if p.tags.GroupGoName != "" {
		ap.GoGroupName = namer.IC(p.tags.GroupGoName)
	}
	for name, t := range types {
		if name.Path != p.src.path || t.alias || len(t.Params) > 0 || !t.Struct || !t.HasJSON() || slices.Contains(noApply, name) {
			continue
		}
		kind := kinds[name]
		if kind != nil && !t.Embeds(objectMeta) {
			// Without a name it can't be applied.
			if kind.applies && !slices.Contains(p.bare, kind) {
				l.warn(kind.Pos, "type %s gets no apply configuration, as metav1.ObjectMeta is not embedded in itself; embed it, or add // +genclient:skipVerbs=apply,applyStatus", kind.Name)
			}
			continue
		}
		ap.Types = append(ap.Types, &ApplyType{Type: t, Kind: kind, Root: kind != nil && kind.applies, File: fileName(strings.ToLower(name.Name))})
	}
	if len(ap.Types) == 0 {
		return nil
	}
	slices.SortFunc(ap.Types, func(a, b *ApplyType) int {
		return strings.Compare(strings.ToLower(a.TypeName.Name)+"\x00"+a.TypeName.Name, strings.ToLower(b.TypeName.Name)+"\x00"+b.TypeName.Name)
	})
	return ap
}

// checkApply reports what would be written to the same place.
func (l *loader) checkApply(a *Apply) {
	folders := map[string]*ApplyPackage{}
	for _, p := range a.Packages {
		if other := folders[p.Folder]; other != nil {
			l.fail(p.Pos, "packages %s and %s would both be generated to the folder %s; rename the folder of one", other.Path, p.Path, p.Folder)
		}
		folders[p.Folder] = p
		for _, t := range p.Types {
			l.checkEmbedded(t.Type, a.Types)
		}
		for i, t := range p.Types[1:] {
			if other := p.Types[i]; other.File == t.File {
				l.fail(t.Pos, "types %s and %s would both be generated to %s.go; rename one", other.TypeName.Name, t.TypeName.Name, t.File)
			}
		}
	}
}

// checkEmbedded reports embedded structs of which nothing is known: neither
// With methods nor the schema have their fields.
func (l *loader) checkEmbedded(t *Type, types map[TypeName]*Type) {
	for _, f := range t.Fields {
		if _, ok := f.JSON(); !ok || !f.Embedded {
			continue
		}
		name := f.Type.Deref().Name
		if inner := types[name]; inner != nil && inner.Pos.IsValid() || isStandard(name.Path) {
			continue
		}
		l.lax(f.Pos, "the embedded type %s can't be found: its fields would be missing from the apply configuration of %s; go get its package", name.Path+"."+name.Name, t.Name)
	}
}
