// Package model loads annotated packages into a sorted and validated model of
// their API: groups, versions, kinds, methods, and every name that a template
// needs. [Load] reads syntax only.
//
// Where Kubernetes' own generators disagree with each other on a name, the comment of each
// field names the one that it follows. References to upstream name files of
// k8s.io/code-generator v0.37.2 and k8s.io/gengo/v2.
package model

import (
	"go/token"
)

// API is the model that one run generates code from.
type API struct {
	// Groups are sorted by the element of the input path that names them, as
	// client-gen sorts them.
	Groups []*Group
	// Packages are all packages of the input, including those without a client:
	// in the order of the inputs if those give groups and versions, by import path
	// otherwise.
	Packages []*Package
	// Apply is nil unless Config.Generators has ApplyConfigurations.
	Apply *Apply
	// Types are the kinds that can have read-only views, and all types that are
	// reachable from them. It is nil unless Config.Generators has Views.
	Types map[TypeName]*Type
	// Copies are the packages that get deep copies, Registrations those whose types generated
	// code registers, and Defaults those that get functions that set defaults, all in the order
	// of Packages.
	Copies        []*CopyPackage
	Registrations []*Registration
	Defaults      []*DefaultsPackage
	// CRDs are the types that CustomResourceDefinitions are made of. It is nil unless Config.Generators has
	// Definitions.
	CRDs *CRDs
}

// Group is an API group.
type Group struct {
	// Name is the API group, such as "rbac.authorization.k8s.io"; "" is the core
	// group.
	Name string
	// PackageName is the element of the input path that names the group, in its
	// original case ("rbac", "core", "cert-manager.io"). It is the folder below
	// typed/, listers/ and informers/.
	PackageName string
	// GoPackage is a valid Go package name derived from PackageName.
	GoPackage string
	// GoName is the exported identifier: "Rbac", "Core", "CertManager". If the
	// packages of the group disagree, the last one wins, as in informer-gen.
	GoName string
	// Versions are in the order of API.Packages.
	Versions []*Version

	// element is the path element behind PackageName, "" for an explicit input
	// without a group.
	element string
}

// Version is a group version: a Go package of API types.
type Version struct {
	Group *Group
	// Name is the version, "" for an internal (hub) package.
	Name string
	// GoName is "V1", or "InternalVersion", which clientsets leave out of the names
	// of their methods: Wardle(), not WardleInternalVersion().
	GoName string
	// PackageName is the folder and package name of the generated code: "v1",
	// "internalversion".
	PackageName string
	// GoGroupName is the Go name of the group according to this package:
	// +groupGoName applies to a package, not to a group.
	GoGroupName string
	Package     *Package
	// Internal is true for API types without json tags (hub types).
	Internal bool
	// Kinds are the types with a client, sorted by Kind.Private.
	Kinds []*Kind

	// hasGroupName is true if doc.go has +groupName.
	hasGroupName bool
}

// Package is a Go package of API types.
type Package struct {
	// Path is the import path, Name the name in the package clause, Dir the
	// absolute folder.
	Path, Name, Dir string
	// Pos is the position at which problems of the package are reported.
	Pos token.Position
	// Client, Lister and Informer are false if the package opts out of the
	// generator by +k8s:client-gen=false and the like.
	Client, Lister, Informer bool
	// HasResource, HasSchemeGroupVersion and HasAddToScheme are true if the package
	// declares the identifier, in a hand-written or a generated file.
	HasResource, HasSchemeGroupVersion, HasAddToScheme bool
	// Version is nil for a package that nothing is generated for.
	Version *Version

	src  *source
	base string // the folder that positions are relative to
}

// Kind is an API type with a client.
type Kind struct {
	Version *Version
	// Name is the Go type and the kind: "Deployment".
	Name string
	// Private is "deployment", Plural "Deployments", PrivatePlural "deployments",
	// and Lower the singular in lower case.
	Private, Plural, PrivatePlural, Lower string
	// File is the base name of generated files, without ".go". It is Lower, except
	// for kinds whose file would replace another file of the folder ("doc",
	// "interface") or whose ending would mean a test or a platform to the go command.
	File string
	// Resource is the REST resource: "deployments", or the value of +resourceName.
	Resource string
	// LowerPlural is the plural in lower case, regardless of +resourceName.
	LowerPlural string
	Namespaced  bool
	// NoVerbs is true for a client whose interface has only its expansion. Such a
	// kind gets no informer. Verb doesn't take it into account.
	NoVerbs bool
	// HasStatus is true for a type with a Status field and no +genclient:noStatus.
	HasStatus bool
	// Verb has the verbs of the client, by name. It takes HasStatus into account,
	// but not whether there are apply configurations.
	Verb map[string]bool
	// Methods are the extra methods, in the order of their tags.
	Methods []*Method
	// ObjectMeta is the type of the field of that name: meta/v1's, except in exotic
	// types. It is empty if the field is promoted from another struct.
	ObjectMeta TypeRef
	// Pos is the position of the type's name.
	Pos token.Position

	// hub is true if ObjectMeta has no json tag.
	hub bool
	// applies is true if the tags leave a verb that applies, with or without a
	// status: that alone decides about apply configurations.
	applies bool
}

// HasLister reports whether the kind has the verbs that lister-gen requires.
func (k *Kind) HasLister() bool { return k.Verb["list"] && k.Verb["get"] }

// HasInformer reports whether the kind has the verbs that informer-gen requires.
func (k *Kind) HasInformer() bool { return !k.NoVerbs && k.Verb["list"] && k.Verb["watch"] }

// Method is an extra method: a +genclient:method.
type Method struct {
	Name        string // "UpdateScale"
	Verb        string // "update"
	Subresource string // "scale", or ""
	// Input is the type of the argument of create, update and apply. Result is the
	// type of the result; for list it is the type of the items, and the method
	// returns the type of that name with "List" appended. Both default to the kind.
	Input, Result TypeRef
	// InputConfig is the import path of the input's apply configuration if another run has
	// generated it, "" otherwise. Only [Config.Strict] sets it.
	InputConfig string
	// Pos is the position of the tag.
	Pos token.Position

	inputPos, resultPos token.Position
	// localInput is true if the tag names the input without a package.
	localInput bool
}

// TypeRef refers to a Go type.
type TypeRef struct {
	// Path is the import path, Package the name of the package, Name that of the type.
	Path, Package, Name string
}

// NonEmptyGroup returns the name of a group, "core" for the core group, whose name
// is empty.
func NonEmptyGroup(name string) string {
	if name == "" {
		return "core"
	}
	return name
}
