package model

import (
	"go/ast"
	"go/token"
	"maps"
	"path"
	"slices"
	"strings"

	"k8s.io/gengo/v2/namer"

	"github.com/kubewright/kubewright/generators/marker"
)

// describe fills in the Package of a candidate and finds its kinds.
func (l *loader) describe(p *candidate) {
	var elsewhere []marker.Tag
	p.tags, elsewhere = l.packageTags(p.src)
	p.pkg = &Package{
		Path: p.src.path, Name: p.src.name, Dir: p.src.dir,
		Client:                !p.tags.OptedOut["client-gen"],
		Lister:                !p.tags.OptedOut["lister-gen"],
		Informer:              !p.tags.OptedOut["informer-gen"],
		HasResource:           p.src.declares("Resource"),
		HasSchemeGroupVersion: p.src.declares("SchemeGroupVersion"),
		HasAddToScheme:        p.src.declares("AddToScheme"),
	}
	p.pkg.Pos = p.position(l.base)
	l.lint(p)
	all := map[string][]marker.Tag{}
	included, override := l.cfg.IncludedTypes[p.groupVersion()]
	for _, f := range p.src.files {
		if f.syntax == nil {
			continue
		}
		tags := l.typeTags(f)
		maps.Copy(all, tags)
		for _, decl := range p.src.types {
			if decl.file != f {
				continue
			}
			client, problems := marker.ParseClient(tags[decl.name], l.cfg.Strict)
			l.problems = append(l.problems, problems...)
			if override && client.Generate != slices.Contains(included, decl.name) {
				if !client.Generate {
					l.fail(l.at(decl.spec), "type %s is to be included and has no +genclient; add // +genclient above it", decl.name)
				}
				continue
			}
			if client.Generate {
				if kind := l.kind(p, decl, client); kind != nil {
					p.kinds = append(p.kinds, kind)
				}
			}
		}
	}
	l.checkDefinitions(p, p.kinds, all)
	for _, name := range included {
		if p.src.typ(name) == nil {
			l.lax(p.pkg.Pos, "type %s is to be included and does not exist in %s%s", name, p.src.path, marker.Suggest(name, p.src.typeNames()))
		}
	}
	for _, kind := range p.bare {
		broken := Clients | Informers
		if len(p.bare) == len(p.kinds) {
			broken |= Listers // lister-gen wants one type that has it
		}
		l.failFor(broken, kind.Pos, "type %s has no ObjectMeta; embed metav1.ObjectMeta or remove its +genclient", kind.Name)
	}
	slices.SortFunc(p.kinds, func(a, b *Kind) int { return strings.Compare(a.Private, b.Private) })
	if len(p.kinds) > 0 {
		elsewhere = l.checkRegistered(p, elsewhere)
	}
	for _, tag := range elsewhere {
		l.warn(tag.Pos, "+%s is ignored here; it counts in the package's doc.go only", tag.Text)
	}
	if l.wanted(p) && p.pkg.Client && !p.pkg.HasAddToScheme {
		l.failFor(Clients, p.pkg.Pos, "package %s has no AddToScheme, which the clientset's scheme calls; declare it in a register.go", p.src.path)
	}
	if p.pkg.Client && l.cfg.has(Clients) {
		l.checkRegistration(p)
	}
}

// groupName is the API group that the package says, or the one of its input.
func (p *candidate) groupName() string {
	if p.tags.HasGroupName {
		return p.tags.GroupName
	}
	return p.input.Group
}

// groupVersion is what a key of [Config.IncludedTypes] calls the package.
func (p *candidate) groupVersion() string {
	if p.input.Explicit {
		return p.groupName() + "/" + p.input.Version
	}
	dir, version := path.Split(p.src.path)
	group := path.Base(dir)
	if p.hub() {
		group, version = version, ""
	}
	if p.tags.HasGroupName {
		group = p.tags.GroupName
	}
	return group + "/" + version
}

// kind makes a kind of a type with +genclient, nil when that can't be done.
func (l *loader) kind(p *candidate, decl *typeDecl, client marker.Client) *Kind {
	name := decl.name
	switch {
	case decl.spec.Assign.IsValid():
		l.lax(client.Pos, "+genclient has no effect on the alias %s; put it on the type itself", name)
		return nil
	case decl.spec.TypeParams != nil:
		l.fail(client.Pos, "type %s has type parameters; API types have none", name)
		return nil
	case !token.IsExported(name):
		l.fail(client.Pos, "type %s is not exported; its client couldn't refer to it", name)
		return nil
	}
	kind := &Kind{Name: name, Namespaced: !client.NonNamespaced, NoVerbs: client.NoVerbs, Verb: map[string]bool{}, Pos: l.at(decl.spec)}
	st, known := l.structOfDecl(decl)
	switch {
	case st == nil && known:
		l.fail(kind.Pos, "type %s is no struct; API types are structs that embed metav1.TypeMeta and metav1.ObjectMeta", name)
		return nil
	case st == nil:
		l.fail(kind.Pos, "the package of the type that %s is defined as can't be found", name)
		return nil
	case !l.embeds(st, "ObjectMeta") && !slices.Contains(p.src.methods[name], "GetResourceVersion"):
		p.bare = append(p.bare, kind)
	}
	if field := st.field("ObjectMeta"); field != nil {
		kind.ObjectMeta, _ = l.refer(st.pkg, st.file, field.Type)
		kind.hub = !strings.Contains(tagText(field), "json")
	}
	status := st.field("Status")
	kind.HasStatus = status != nil && !client.NoStatus
	if kind.HasStatus && !kind.hub && len(status.Names) > 0 && !strings.Contains(tagText(status), "json") {
		l.warn(l.fset.Position(status.Pos()), "the field Status of %s has no json tag, so that servers don't find it; add `json:\"status,omitempty\"`", name)
	}
	for _, verb := range Verbs {
		kind.Verb[verb] = client.HasVerb(verb) && (kind.HasStatus || verb != "updateStatus" && verb != "applyStatus")
	}
	kind.applies = client.HasVerb("apply") || client.HasVerb("applyStatus")
	l.namers.name(kind, p.src.path, client.ResourceName)
	l.list(p, kind)
	l.methods(p, kind, client.Methods)
	return kind
}

// methods enters a kind's extra methods and checks their names.
func (l *loader) methods(p *candidate, kind *Kind, methods []marker.Method) {
	taken := map[string]string{}
	for _, verb := range Verbs {
		if kind.Verb[verb] {
			taken[namer.IC(verb)] = "the verb " + verb + "; rename it, or add // +genclient:skipVerbs=" + verb
		}
	}
	self := TypeRef{Path: p.src.path, Package: p.src.name, Name: kind.Name}
	for _, m := range methods {
		if other := taken[m.Name]; other != "" && !kind.NoVerbs {
			if m.Verb == "apply" {
				// Without apply configurations neither of the two is written.
				l.lax(m.Pos, "method %s of %s is also the name of %s", m.Name, kind.Name, other)
			} else {
				l.fail(m.Pos, "method %s of %s is also the name of %s", m.Name, kind.Name, other)
			}
		}
		taken[m.Name] = "another method; rename one"
		method := &Method{Name: m.Name, Verb: m.Verb, Subresource: m.Subresource, Input: self, Result: self, Pos: m.Pos}
		method.inputPos, method.resultPos = m.InputPos, m.ResultPos
		method.localInput = m.Input != "" && !strings.Contains(m.Input, ".")
		method.Input.override(m.Input)
		method.Result.override(m.Result)
		kind.Methods = append(kind.Methods, method)
	}
}

// override replaces a reference by what a tag says: a name in the same
// package, or an import path and a name. The package's name is found later.
func (r *TypeRef) override(name string) {
	if name == "" {
		return
	}
	importPath, typeName := splitType(name)
	r.Name = typeName
	if importPath != "" && importPath != r.Path {
		r.Path, r.Package = importPath, ""
	}
}

// resolveMethods finds the types that methods name in other packages, all of
// them with at most one call of the go command, and checks that they exist.
func (l *loader) resolveMethods(packages []*candidate) {
	var paths []string
	for _, p := range packages {
		for _, kind := range p.kinds {
			for _, m := range kind.Methods {
				paths = append(paths, m.Input.Path, m.Result.Path)
			}
		}
	}
	l.need(paths...)
	for _, p := range packages {
		for _, kind := range p.kinds {
			for _, m := range kind.Methods {
				l.resolve(m, "input", &m.Input, m.inputPos, "")
				suffix := ""
				if m.Verb == "list" {
					suffix = "List"
				}
				l.resolve(m, "result", &m.Result, m.resultPos, suffix)
			}
		}
	}
}

// resolve checks that a type of a method exists; suffix is "List" for what a
// method with the verb list returns, whose tag names the item.
func (l *loader) resolve(m *Method, key string, ref *TypeRef, pos token.Position, suffix string) {
	src := l.byPath[ref.Path]
	if src == nil {
		hint := "; go get its module, if the path is right"
		if !strings.Contains(ref.Path, "/") {
			hint = "; write the import path, " + key + "=example.com/path/v1." + ref.Name
		}
		l.failFor(Clients, pos, "%s= of method %s: there is no package %q%s", key, m.Name, ref.Path, hint)
		return
	}
	ref.Package = src.name
	if src.typ(ref.Name+suffix) == nil {
		if !pos.IsValid() {
			pos = m.Pos
		}
		l.failFor(Clients, pos, "%s= of method %s: type %s%s does not exist in %s%s", key, m.Name, ref.Name, suffix, ref.Path, marker.Suggest(ref.Name+suffix, src.typeNames()))
	}
}

// typeNames are the exported types known so far.
func (s *source) typeNames() []string {
	var names []string
	for name := range s.types {
		if token.IsExported(name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// at is the position of a type's name.
func (l *loader) at(spec *ast.TypeSpec) token.Position { return l.fset.Position(spec.Name.Pos()) }
