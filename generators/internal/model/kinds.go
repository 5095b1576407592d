package model

import (
	"go/ast"
	"go/token"
	"maps"
	"path"
	"slices"
	"strings"

	"k8s.io/gengo/v2/namer"

	"github.com/kubewright/kubewright/generators/internal/marker"
)

// kindReader reads packages and the kinds in them.
type kindReader struct {
	*session
	namers namers
}

// readPackage fills in the Package of a candidate and its kinds.
func (r *kindReader) readPackage(p *candidate) {
	p.tags, p.elsewhere = r.packageTags(p.src)
	p.pkg = &Package{
		Path: p.src.path, Name: p.src.name, Dir: p.src.dir, src: p.src, base: r.base,
		Client:                !p.tags.OptsOut("client-gen"),
		Lister:                !p.tags.OptsOut("lister-gen"),
		Informer:              !p.tags.OptsOut("informer-gen"),
		HasResource:           p.registers || p.src.declares("Resource"),
		HasSchemeGroupVersion: p.registers || p.src.declares("SchemeGroupVersion"),
		HasAddToScheme:        p.registers || p.src.declares("AddToScheme"),
	}
	p.pkg.Pos = p.position(r.base)
	(&linter{r.session}).lint(p)
	if !p.pkg.HasAddToScheme && r.nestedModule(p) != "" {
		r.nested[p.src] = true
	}
	tags := r.readKinds(p)
	r.checkOnly(p)
	r.checkExcluded(p)
	r.checkDefinitions(p, tags)
	r.checkBare(p)
	r.checkOptOuts(p)
	r.checkMerging(p)
	// The order of upstream's generators (namer.Orderer with NewPrivateNamer).
	slices.SortFunc(p.kinds, func(a, b *Kind) int { return strings.Compare(a.Private, b.Private) })
	// Declarations are found even in generated files, so this one is certainly missing;
	// checkRegisteredTypes can only warn.
	if r.cfg.wants(p) && p.pkg.Client && !p.pkg.HasAddToScheme {
		advice := "declare it in a register.go"
		if module := r.nestedModule(p); module != "" {
			advice = "generate it in its own module first: " + module
		} else if r.cfg.Strict && p.own() && !p.tags.HasGroupName {
			advice = "write // +groupName=GROUP in doc.go, and it is generated, or " + advice
		}
		r.GeneratorErrorf(Clients, p.pkg.Pos,
			"package %s has no AddToScheme, which the clientset's scheme calls; %s", p.src.path, advice)
	}
	if p.pkg.Client && !p.registers && r.cfg.has(Clients) {
		r.checkRegisteredTypes(p)
	}
}

// readKinds adds the kinds of a package, and returns the tags of all its types.
func (r *kindReader) readKinds(p *candidate) map[string][]marker.Tag {
	all := map[string][]marker.Tag{}
	included, override := r.cfg.IncludedTypes[p.groupVersion()]
	for _, f := range p.src.files {
		if f.syntax == nil {
			continue
		}
		tags := r.typeTags(f)
		maps.Copy(all, tags)
		for _, decl := range p.src.types {
			if decl.file != f {
				continue // tags are found by file
			}
			client, problems := marker.ParseClient(tags[decl.name], r.cfg.Strict)
			r.Problems = append(r.Problems, problems...)
			r.withoutClient(p, decl, client)
			if override && client.Generate != slices.Contains(included, decl.name) {
				if !client.Generate {
					// Client-gen refers to a client of the type and generates none,
					// as it filters by +genclient again (targetForGroup).
					r.Errorf(r.at(decl.spec),
						"--included-types-overrides names type %s, which has no +genclient; add "+
							"// +genclient above it",
						decl.name)
				}
				continue
			}
			if client.Generate {
				if kind := r.kind(p, decl, client); kind != nil {
					p.kinds = append(p.kinds, kind)
				}
			}
		}
	}
	for _, name := range included {
		if p.src.typ(name) == nil {
			r.StrictErrorf(p.pkg.Pos,
				"--included-types-overrides names type %s, which does not exist in %s%s",
				name, p.src.path, marker.Suggest(name, p.src.typeNames()))
		}
	}
	return all
}

// withoutClient reports tags that have no effect because the type has no +genclient. Above
// an object that is a mistake. Above other types it is a warning: types that people copy
// for their own API may have such a tag on a list, or in the internal version.
func (r *kindReader) withoutClient(p *candidate, decl *typeDecl, client marker.Client) {
	for _, tag := range client.Dead {
		const message = "+%s has no effect without +genclient on the same type; "
		if tagged, _ := p.src.taggedObject(decl.name); tagged {
			r.StrictErrorf(tag.Pos, message+"add // +genclient above the type, or remove it", tag.Name)
		} else {
			r.Warnf(tag.Pos, message+"remove it", tag.Name)
		}
	}
}

// checkBare reports kinds without ObjectMeta. Client-gen and informer-gen generate code
// for them that doesn't compile. Lister-gen needs it in only one type of the package, to
// distinguish hub types from others (objectMetaForPackage).
func (r *kindReader) checkBare(p *candidate) {
	broken := Clients | Informers
	if len(p.bare) == len(p.kinds) {
		broken |= Listers
	}
	for _, kind := range p.bare {
		r.GeneratorErrorf(broken, kind.Pos,
			"type %s has no ObjectMeta; embed metav1.ObjectMeta or remove its +genclient", kind.Name)
	}
}

// checkOptOuts reports a package that opts out of a generator, but not out of informers,
// which import the code of that generator.
func (r *kindReader) checkOptOuts(p *candidate) {
	if !r.cfg.has(Informers) || !p.pkg.Informer || !slices.ContainsFunc(p.kinds, (*Kind).HasInformer) {
		return
	}
	for _, g := range []struct {
		generator Generators
		name      string
	}{{Clients, "client-gen"}, {Listers, "lister-gen"}} {
		if r.cfg.has(g.generator) && p.tags.OptsOut(g.name) {
			r.StrictErrorf(p.tags.OptedOut[g.name],
				"+k8s:%s=false leaves out what the informers of package %s import; add "+
					"// +k8s:informer-gen=false",
				g.name, p.src.path)
		}
	}
}

// groupName is the API group according to doc.go, or to the input.
func (p *candidate) groupName() string {
	if p.tags.HasGroupName {
		return p.tags.GroupName
	}
	return p.input.Group
}

// groupVersion is the key of the package in [Config.IncludedTypes].
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

// kind returns the kind of a type with +genclient, nil if the type can't have a client.
func (r *kindReader) kind(p *candidate, decl *typeDecl, client marker.Client) *Kind {
	name := decl.name
	switch {
	case decl.spec.Assign.IsValid():
		r.StrictErrorf(client.Pos,
			"+genclient has no effect on the alias %s; put it on the type itself", name)
		return nil
	case decl.spec.TypeParams != nil:
		r.Errorf(client.Pos, "type %s has type parameters; API types have none", name)
		return nil
	case !token.IsExported(name):
		r.Errorf(client.Pos, "type %s is not exported; its client couldn't refer to it", name)
		return nil
	}
	kind := &Kind{Name: name, Namespaced: !client.NonNamespaced, NoVerbs: client.NoVerbs,
		Verb: map[string]bool{}, Pos: r.at(decl.spec)}
	st, known := r.structOfDecl(decl)
	switch {
	case st == nil && known:
		r.Errorf(kind.Pos,
			"type %s is not a struct; API types are structs that embed metav1.TypeMeta and metav1.ObjectMeta",
			name)
		return nil
	case st == nil:
		r.Errorf(kind.Pos, "the package of the type that %s is defined as can't be found", name)
		return nil
	case !r.embeds(st, "ObjectMeta") && !slices.Contains(p.src.methods[name], "GetResourceVersion"):
		// A type may implement metav1.Object by itself.
		p.bare = append(p.bare, kind)
	}
	if field := st.field("ObjectMeta"); field != nil {
		kind.ObjectMeta, _ = r.refer(st.pkg, st.file, field.Type)
		// Upstream looks for the word, not for a tag of that key (isInternal).
		kind.hub = !strings.Contains(tagText(field), "json")
	}
	if kind.hub {
		r.checkInternal(p, kind, st)
	} else {
		r.checkMarshaler(p, name, kind.Pos, "kind", "metadata, spec and status")
		r.checkKeys(p, name, st)
	}
	status := st.field("Status")
	kind.HasStatus = status != nil && !client.NoStatus
	if !kind.hub {
		r.checkSpecAndStatus(p, name, st)
	}
	if field := st.field("ObjectMeta"); field != nil && len(field.Names) == 0 && st.pkg == p.src {
		if _, pointer := field.Type.(*ast.StarExpr); pointer {
			r.Warnf(r.fset.Position(field.Pos()), "the ObjectMeta of %s is a pointer, which is nil in a new object, "+
				"so that its methods panic; embed metav1.ObjectMeta itself", name)
		}
	}
	for _, verb := range marker.Verbs() {
		kind.Verb[verb.Name] = client.HasVerb(verb.Name) && (kind.HasStatus || !verb.Status)
		kind.applies = kind.applies || verb.Apply && client.HasVerb(verb.Name)
	}
	r.namers.name(kind, p.src.path, client.ResourceName)
	informers := Informers
	if kind.NoVerbs { // its client has a type parameter for objects nevertheless
		informers = 0
	}
	r.checkObject(decl, st, Clients|Listers|informers, runtimeMethods...)
	if !slices.Contains(p.bare, kind) {
		r.checkObject(decl, st, Clients|informers, metaMethods...)
	}
	r.checkList(p, kind)
	r.addMethods(p, kind, client.Methods)
	return kind
}

// checkList checks the list type of a kind that can be listed.
func (r *kindReader) checkList(p *candidate, kind *Kind) {
	if kind.NoVerbs || !kind.Verb["list"] {
		return
	}
	list := kind.Name + "List"
	decl := p.src.typ(list)
	if decl == nil {
		r.GeneratorErrorf(Clients|Informers, kind.Pos,
			"type %s has no %s beside it; declare it, or add // +genclient:skipVerbs=list,watch",
			kind.Name, list)
		return
	}
	st, known := r.structOfDecl(decl)
	if st == nil {
		if known {
			r.GeneratorErrorf(Clients|Informers, r.at(decl.spec),
				"type %s is not a struct; it should have metav1.TypeMeta, metav1.ListMeta and Items []%s",
				list, kind.Name)
		}
		return
	}
	if !r.promotes(st, "Items") {
		r.GeneratorErrorf(Clients|Informers, r.at(decl.spec),
			"type %s has no field Items; add Items []%s", list, kind.Name)
	}
	r.checkObject(decl, st, Clients|Informers, runtimeMethods...)
	root := holder{p.src, list, st}
	if found, _ := r.selects(root, "GetListMeta"); found == selectsNothing && !decl.spec.Assign.IsValid() {
		if found, _ := r.selects(root, "GetContinue"); found == selectsNothing {
			r.StrictErrorf(r.at(decl.spec), "type %s has no ListMeta, so clients don't see the version of a list, "+
				"nor that it has more pages; embed metav1.ListMeta with `json:\"metadata,omitempty\"`", list)
		}
	}
	r.checkItems(p, kind, list, st)
	if !kind.hub {
		r.checkMarshaler(p, list, r.at(decl.spec), "list", "metadata and items")
		r.checkKeys(p, list, st)
	}
}

// checkItems reports lists whose items are of another type than the kind. Upstream's
// fakes don't compile with those; ours do, but fakes, informers and listers can't use
// the items.
func (r *kindReader) checkItems(p *candidate, kind *Kind, list string, st *structType) {
	field := st.field("Items")
	if field == nil || st.pkg != p.src {
		return // promoted, or declared in another package
	}
	slice, ok := field.Type.(*ast.ArrayType)
	if !ok {
		return // a named type, whose elements may be right
	}
	ref, ok := r.refer(st.pkg, st.file, slice.Elt)
	if !ok || ref.Path == p.src.path && ref.Name == kind.Name {
		return
	}
	src := r.pkg(ref.Path)
	if src == nil {
		return
	}
	if decl := src.typ(ref.Name); decl != nil && !decl.spec.Assign.IsValid() {
		name := ref.Name
		if ref.Path != p.src.path {
			name = src.name + "." + name
		}
		r.StrictErrorf(r.fset.Position(field.Pos()),
			"the Items of %s are of type %s, not %s; declare them as Items []%s",
			list, name, kind.Name, kind.Name)
	}
}

// addMethods adds the extra methods of a kind and checks their names.
func (r *kindReader) addMethods(p *candidate, kind *Kind, methods []marker.Method) {
	taken := map[string]string{}
	for _, verb := range marker.Verbs() {
		if kind.Verb[verb.Name] {
			taken[namer.IC(verb.Name)] = "the verb " + verb.Name +
				"; rename it, or add // +genclient:skipVerbs=" + verb.Name
		}
	}
	self := TypeRef{Path: p.src.path, Package: p.src.name, Name: kind.Name}
	for _, m := range methods {
		if other := taken[m.Name]; other != "" && !kind.NoVerbs {
			if m.Verb == "apply" {
				// Without apply configurations neither of the two is generated.
				r.StrictErrorf(m.Pos, "method %s of %s is also the name of %s", m.Name, kind.Name, other)
			} else {
				r.Errorf(m.Pos, "method %s of %s is also the name of %s", m.Name, kind.Name, other)
			}
		}
		taken[m.Name] = "another method; rename one"
		method := &Method{Name: m.Name, Verb: m.Verb, Subresource: m.Subresource, Input: self, Result: self,
			Pos: m.Pos}
		method.inputPos, method.resultPos = m.InputPos, m.ResultPos
		method.localInput = m.Input != "" && !strings.Contains(m.Input, ".")
		method.Input.override(m.Input)
		method.Result.override(m.Result)
		kind.Methods = append(kind.Methods, method)
	}
}

// override replaces a reference by the type that a tag names: a type of the same
// package, or an import path and a type. resolveMethods finds the package's name.
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

// resolveMethods finds the types that methods refer to, with at most one call of the go
// command for all of them, and checks that they exist.
func (r *kindReader) resolveMethods(packages []*candidate) {
	var paths []string
	for _, p := range packages {
		for _, kind := range p.kinds {
			for _, m := range kind.Methods {
				paths = append(paths, m.Input.Path, m.Result.Path)
			}
		}
	}
	r.need(paths...)
	for _, p := range packages {
		for _, kind := range p.kinds {
			for _, m := range kind.Methods {
				r.resolve(m, "input", &m.Input, m.inputPos, "")
				suffix := ""
				if m.Verb == "list" {
					suffix = "List" // result= names the items
				}
				r.resolve(m, "result", &m.Result, m.resultPos, suffix)
			}
		}
	}
}

// resolve checks that the type of a method exists, with the suffix appended to its name.
func (r *kindReader) resolve(m *Method, key string, ref *TypeRef, pos token.Position, suffix string) {
	src := r.byPath[ref.Path]
	if src == nil {
		hint := "; go get its module, if the path is right"
		if !strings.Contains(ref.Path, "/") {
			hint = "; write the import path, " + key + "=example.com/path/v1." + ref.Name
		}
		r.GeneratorErrorf(Clients, pos,
			"%s= of method %s: there is no package %q%s", key, m.Name, ref.Path, hint)
		return
	}
	ref.Package = src.name
	if src.typ(ref.Name+suffix) == nil {
		if !pos.IsValid() {
			pos = m.Pos
		}
		r.GeneratorErrorf(Clients, pos,
			"%s= of method %s: type %s%s does not exist in %s%s",
			key, m.Name, ref.Name, suffix, ref.Path, marker.Suggest(ref.Name+suffix, src.typeNames()))
	}
}
