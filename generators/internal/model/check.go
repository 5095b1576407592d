package model

import (
	"go/token"
	"maps"
	"slices"
	"strings"

	"github.com/kubewright/kubewright/generators/internal/marker"
)

// checker checks the model as a whole.
type checker struct{ *session }

// names reports names that would collide in the generated code. The go command would report
// most of them too, but in generated files.
func (c *checker) names(api *API) {
	c.versions(api)
	c.groupNames(api)
	for _, group := range api.Groups {
		for _, version := range group.Versions {
			c.kinds(version)
		}
		c.agreement(group)
	}
}

// agreement reports kinds whose scope or resource differs between the versions of a group:
// a server has one of each for all versions, so it refuses the requests of one of the
// clients.
func (c *checker) agreement(group *Group) {
	first := map[string]*Kind{}
	for _, v := range group.Versions {
		for _, kind := range v.Kinds {
			other := first[kind.Name]
			switch {
			case v.Internal || kind.NoVerbs:
			case other == nil:
				first[kind.Name] = kind
			case other.Namespaced != kind.Namespaced:
				c.StrictErrorf(kind.Pos,
					"type %s is %s here and %s in version %s (%s:%d); write +genclient:nonNamespaced above "+
						"both or neither",
					kind.Name, scope(kind), scope(other), other.Version.Name, other.Pos.Filename, other.Pos.Line)
			case other.Resource != kind.Resource && c.cfg.resources():
				c.StrictErrorf(kind.Pos,
					"the resource of type %s is %q here and %q in version %s (%s:%d); write the same "+
						"+resourceName above both",
					kind.Name, kind.Resource, other.Resource, other.Version.Name, other.Pos.Filename,
					other.Pos.Line)
			}
		}
	}
}

func scope(kind *Kind) string {
	if kind.Namespaced {
		return "namespaced"
	}
	return "cluster-scoped"
}

// versions reports packages that would be generated to the same folder, or that have
// the same group and version.
func (c *checker) versions(api *API) {
	folders, apis := map[string]*Version{}, map[string]*Version{}
	for _, group := range api.Groups {
		for _, v := range group.Versions {
			pos := v.Package.Pos
			folder := strings.ToLower(group.PackageName) + "/" + v.PackageName
			switch other := folders[folder]; {
			case other != nil && other.Package.Path == v.Package.Path:
				c.Errorf(pos, "package %s is an input twice; name it once", v.Package.Path)
				continue
			case other != nil:
				c.Errorf(pos,
					"packages %s and %s would both be generated to the folder %s; rename the folder of one",
					other.Package.Path, v.Package.Path, folder)
				continue
			}
			folders[folder] = v
			// Client-gen indexes packages by group version (GroupVersionPackages), so one
			// of the two would be lost. Listers and informers go by folder.
			gv := group.Name + "/" + v.Name
			if other := apis[gv]; other != nil {
				if !c.sameKinds(other, v) {
					c.GeneratorErrorf(Clients, pos,
						"packages %s and %s are both version %s of group %q; keep the types of a version in "+
							"one package, or change one +groupName",
						other.Package.Path, v.Package.Path, v.PackageName, group.Name)
				}
				continue
			}
			apis[gv] = v
		}
	}
}

// sameKinds reports kinds that two packages of one group and version have, and whether there are some.
func (c *checker) sameKinds(a, b *Version) bool {
	found := false
	for _, kind := range b.Kinds {
		i := slices.IndexFunc(a.Kinds, func(other *Kind) bool { return other.Lower == kind.Lower })
		if i < 0 {
			continue
		}
		other := a.Kinds[i]
		c.GeneratorErrorf(Clients, kind.Pos,
			"type %s, and type %s in %s:%d, are both kinds of version %s of group %q; remove or rename one, or "+
				"change one +groupName",
			kind.Name, other.Name, other.Pos.Filename, other.Pos.Line, b.PackageName, b.Group.Name)
		found = true
	}
	return found
}

// factoryMethods are the methods that every factory has besides those of groups.
var factoryMethods = []string{"ForResource", "InformerFor", "InformerName", "Shutdown", "Start",
	"StartWithContext", "WaitForCacheSync", "WaitForCacheSyncWithContext"}

// sameGoName is the message for two groups with one name, in clientsets and in factories.
const sameGoName = "groups %q and %q (%s) both have the Go name %s; write // +groupGoName=Other in the " +
	"doc.go of one"

// groupNames reports groups whose methods on the clientset or on the informer factory
// would have the same name.
func (c *checker) groupNames(api *API) {
	// A clientset has a method for each version, a factory one for each group.
	clients := map[string]*Version{}
	factories := map[string]*Version{}
	for _, group := range api.Groups {
		for _, v := range group.Versions {
			method := v.GoGroupName
			if v.Name != "" {
				method += v.GoName
			}
			if method == "Discovery" {
				c.GeneratorErrorf(Clients, v.Package.Pos,
					"the clientset has a method Discovery already; write another // +groupGoName in doc.go")
			}
			// Two versions of one group that collide were reported by versions.
			if other := clients[method]; v.Package.Client && other != nil && other.Group.Name != group.Name {
				c.GeneratorErrorf(Clients, v.Package.Pos, sameGoName, other.Group.Name, group.Name,
					other.Package.Path, v.GoGroupName)
			} else if v.Package.Client {
				clients[method] = v
			}
		}
		// Internal types have a factory of their own; see InformerOptions of package
		// generators.
		for _, internal := range []bool{false, true} {
			i := slices.IndexFunc(group.Versions, func(v *Version) bool {
				return v.Internal == internal && v.Package.Informer &&
					slices.ContainsFunc(v.Kinds, (*Kind).HasInformer)
			})
			if i < 0 {
				continue
			}
			key, v := group.GoName, group.Versions[i]
			if group.PackageName == "internalinterfaces" {
				c.GeneratorErrorf(Informers, v.Package.Pos,
					"the informers have a folder internalinterfaces already; rename the folder of group %q",
					group.Name)
			}
			if slices.Contains(factoryMethods, key) {
				c.GeneratorErrorf(Informers, v.Package.Pos,
					"the informer factory has a method %s already; write another // +groupGoName in doc.go",
					key)
			}
			if internal {
				key += " internal"
			}
			switch other := factories[key]; {
			case other == nil:
				factories[key] = v
			case other.Group.Name == group.Name && other.Name == v.Name && c.cfg.has(Clients):
				// Reported by versions.
			case other.Group.Name == group.Name:
				c.GeneratorErrorf(Informers, v.Package.Pos,
					"packages %s and %s are of one group, %q, but in folders of different names; put them "+
						"under one folder, like apis/example/v1 and apis/example/v2",
					other.Package.Path, v.Package.Path, group.Name)
			default:
				c.GeneratorErrorf(Informers, v.Package.Pos, sameGoName, other.Group.Name, group.Name,
					other.Package.Path, group.GoName)
			}
		}
	}
}

// kinds reports kinds of a version that would be generated under the same name.
func (c *checker) kinds(v *Version) {
	// Two kinds may share a resource and still compile, so that is no error for the
	// compatible binaries; but ForResource of the factory can return only one informer.
	resources := map[string]*Kind{}
	files := map[string]*Kind{}
	declared := map[declaration]string{}
	for _, suffix := range []string{"Interface", "Client"} {
		name := v.GoGroupName + strings.TrimPrefix(v.GoName, "InternalVersion") + suffix
		declared[declaration{Clients, name}] = "the group's own client"
	}
	for _, kind := range v.Kinds {
		if other := files[kind.Lower]; other != nil {
			c.Errorf(kind.Pos,
				"types %s and %s would both be generated to %s.go; rename one",
				other.Name, kind.Name, kind.Lower)
			continue
		}
		files[kind.Lower] = kind
		if other := resources[kind.Resource]; other != nil && c.cfg.resources() {
			c.StrictErrorf(kind.Pos,
				"types %s and %s both have the resource %q; write // +resourceName=other above one",
				other.Name, kind.Name, kind.Resource)
		}
		resources[kind.Resource] = kind
		// Clients of groups have a method RESTClient, and their fakes a field Fake.
		if v.Package.Client && (kind.Plural == "Fake" || kind.Plural == "RESTClient") {
			c.GeneratorErrorf(Clients, kind.Pos,
				"the client of group %q would have a second method %s; give type %s another plural",
				v.Group.Name, kind.Plural, kind.Name)
		}
		if v.Package.Lister && kind.HasLister() && kind.Namespaced && kind.Plural == "List" {
			c.GeneratorErrorf(Listers, kind.Pos,
				"the lister of type %s would have a second method List; give the type another plural",
				kind.Name)
		}
		if kind.Name == "Typed" && v.Package.Informer && kind.HasInformer() {
			c.GeneratorErrorf(Informers, kind.Pos,
				"the informer of type Typed would have a method of its own name; rename the type")
		}
		for _, d := range kind.declares(v.Package, c.cfg.has(Views)) {
			if other := declared[d]; other != "" {
				c.GeneratorErrorf(d.by, kind.Pos,
					"%s would be generated for type %s and for %s; rename the type or change its plural",
					d.name, kind.Name, other)
				if c.cfg.Strict || c.cfg.has(d.by) {
					break // One error for each type is enough, but a warning must not hide one.
				}
				continue
			}
			declared[d] = "type " + kind.Name
		}
	}
}

// declaration is an exported identifier of the package that a generator makes for a
// version.
type declaration struct {
	by   Generators
	name string
}

// declares lists the identifiers that are generated for a kind in the packages of
// clients, listers and informers. views is true if there are read-only views.
func (k *Kind) declares(p *Package, views bool) []declaration {
	var list []declaration
	add := func(by Generators, names ...string) {
		for _, name := range names {
			list = append(list, declaration{by, name})
		}
	}
	if p.Client {
		add(Clients, k.Name+"Interface", k.Name+"Expansion", k.Plural+"Getter")
	}
	// The lists have to follow the templates. TestNames of package generators compiles the
	// code for random names, so it finds missing entries.
	if p.Lister && k.HasLister() {
		add(Listers, k.Name+"Lister", k.Name+"ListerExpansion", "New"+k.Name+"Lister")
		if k.Namespaced {
			add(Listers, k.Name+"NamespaceLister", k.Name+"NamespaceListerExpansion")
		}
		if views {
			add(Listers, "NewReadOnly"+k.Name+"Lister")
		}
	}
	if p.Informer && k.HasInformer() {
		add(Informers, "Deleted"+k.Name, "To"+k.Name+"IndexInformer")
		for _, prefix := range []string{"", "Typed", "New", "NewTyped", "NewFiltered", "NewTypedFiltered",
			"ToTyped"} {
			add(Informers, prefix+k.Name+"Informer")
		}
		for _, suffix := range []string{"IndexInformer", "HandlerFuncs", "DetailedHandlerFuncs",
			"FilteringHandler", "Indexers"} {
			add(Informers, k.Name+suffix)
		}
	}
	return list
}

// inputs reports inputs and flags that have no effect.
func (c *checker) inputs(api *API, packages []*candidate) {
	c.empty(api, packages)
	c.plurals(packages)
	c.included(packages)
}

// empty reports packages that nothing is generated for.
func (c *checker) empty(api *API, packages []*candidate) {
	applied := map[*Package]bool{}
	if api.Apply != nil {
		for _, p := range api.Apply.Packages {
			applied[p.Package] = true
		}
	}
	kinds := 0
	made := len(api.Copies)+len(api.Registrations)+len(api.Defaults) > 0 || api.CRDs.hasKinds("")
	for _, p := range packages {
		kinds += len(p.kinds)
		if p.only {
			kinds++ // its client
		}
		if p.helped || p.only || api.CRDs.hasKinds(p.src.path) {
			continue // the code in the package is reason enough to name it
		}
		if len(p.kinds) == 0 && !p.wildcard && !applied[p.pkg] && (c.cfg.Strict || p.input.Explicit) {
			c.StrictErrorf(p.pkg.Pos,
				"package %s has no type with +genclient; add // +genclient above a type, or leave the "+
					"package out",
				p.src.path)
		} else if len(p.kinds) > 0 && !p.wildcard && !c.cfg.wants(p) && !c.cfg.wantsApply(p) {
			c.StrictErrorf(p.pkg.Pos,
				"package %s opts out of what is to be generated; remove its +k8s:...-gen=false, or leave "+
					"the package out",
				p.src.path)
		}
	}
	if kinds > 0 || len(packages)+len(c.hubs) == 0 || c.Problems.Fatal() {
		return
	}
	if made {
		registers := func(p *candidate) bool { return p.registers }
		if i := slices.IndexFunc(packages, registers); i >= 0 && c.cfg.Strict && c.cfg.has(Clients) {
			c.Warnf(packages[i].pkg.Pos, "no type in these packages has +genclient, so there are no clients; add "+
				"// +genclient above those that are to have one")
		}
		return
	}
	pos := token.Position{Filename: strings.Join(c.cfg.patterns(), " ")}
	if len(c.hubs) > 0 {
		c.Errorf(pos, "only internal types have +genclient here; name their package, %s, or add "+
			"// +genclient to the types of its versions",
			c.hubs[0].src.path)
		return
	}
	const message = "no type in these packages has +genclient; add // +genclient above those that are to " +
		"have a client"
	if packages[0].input.Explicit {
		c.GeneratorErrorf(Clients, pos, message)
	} else {
		hint := ""
		for _, pattern := range c.cfg.patterns() {
			hint += inNestedModule(c.ctx, c.cfg.Dir, pattern)
		}
		c.StrictErrorf(pos, "%s%s", message, hint)
	}
}

// plurals warns of plural exceptions for names that look like misspelt types. One for a
// type that isn't in the input is fine: scripts pass all exceptions to every run.
func (c *checker) plurals(packages []*candidate) {
	if !c.cfg.Strict {
		return
	}
	var names []string
	for _, p := range packages {
		for _, kind := range p.kinds {
			names = append(names, kind.Name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.cfg.PluralExceptions)) {
		if hint := marker.Suggest(name, names); hint != "" && !slices.Contains(names, name) {
			c.Warnf(token.Position{}, "--plural-exceptions: no type %s has a client here%s", name, hint)
		}
	}
}

// included reports group versions of [Config.IncludedTypes] that no package has, so that
// they have no effect.
func (c *checker) included(packages []*candidate) {
	var known, apis []string
	for _, p := range packages {
		known = append(known, p.groupVersion())
		if len(p.kinds) > 0 {
			apis = append(apis, p.groupVersion())
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.cfg.IncludedTypes)) {
		if !slices.Contains(known, name) {
			c.StrictErrorf(token.Position{},
				"--included-types-overrides: no package here has the group and version %q; there are: %s",
				name, strings.Join(apis, ", "))
		}
	}
}
