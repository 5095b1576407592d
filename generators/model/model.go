// Package model turns annotated packages into the sorted, validated picture
// that the generators work from: groups, versions, kinds, methods and every
// name that a template may need. Loading is syntax only; see load.go.
package model

import "go/token"

// API is everything that one run generates for.
type API struct {
	// Groups are sorted by API group name, as client-gen orders them.
	Groups []*Group
	// Packages are all packages of the input, in the order of the input,
	// those without a client too.
	Packages []*Package
}

// Group is one API group.
type Group struct {
	// Name is the API group, "" for the core group: "rbac.authorization.k8s.io".
	Name string
	// PackageName is the element of the input path that named the group, in
	// the case it has there ("rbac", "core", "cert-manager.io"): the folder
	// below typed/, listers/ and informers/.
	PackageName string
	// GoPackage is a legal Go package name made of PackageName.
	GoPackage string
	// GoName is the exported identifier: "Rbac", "Core", "CertManager".
	GoName string
	// Versions keep the order of the input.
	Versions []*Version
}

// Version is one group version, one Go package of API types.
type Version struct {
	Group *Group
	// Name is the version, "" for an internal (hub) package.
	Name string
	// GoName is "V1", or "InternalVersion".
	GoName string
	// PackageName is the folder and package name of what is generated: "v1", "internalversion".
	PackageName string
	// GoGroupName is the group's Go name as this version's package declares
	// it (+groupGoName belongs to a package).
	GoGroupName string
	Package     *Package
	// Internal is true where the API types carry no json tags (hub types).
	Internal bool
	// Kinds are the types with a client, sorted by their private name.
	Kinds []*Kind
}

// Package is a Go package of API types.
type Package struct {
	// Path is the import path, Name the name in its package clause, Dir its folder.
	Path, Name, Dir string
	// Client, Lister and Informer say whether each generator is to run for
	// the package (+k8s:client-gen=false and its kin opt out).
	Client, Lister, Informer bool
	// HasResource and HasSchemeGroupVersion say what the package declares.
	HasResource, HasSchemeGroupVersion bool
	Version                            *Version
}

// Verbs are the default verbs, in the order in which they are written.
var Verbs = []string{"create", "update", "updateStatus", "delete", "deleteCollection", "get", "list", "watch", "patch", "apply", "applyStatus"}

// Kind is an API type with a client.
type Kind struct {
	Version *Version
	// Name is the Go type and the kind: "Deployment".
	Name string
	// Private is "deployment", Plural "Deployments", PrivatePlural
	// "deployments", Lower the all-lowercase singular that names files.
	Private, Plural, PrivatePlural, Lower string
	// Resource is the REST resource: "deployments", or what +resourceName says.
	Resource string
	// LowerPlural is the all-lowercase plural, which +resourceName leaves alone.
	LowerPlural string
	Namespaced  bool
	// NoVerbs leaves an interface with nothing but its expansion.
	NoVerbs bool
	// HasStatus is true for a type with a Status field and no +genclient:noStatus.
	HasStatus bool
	// Verb says for each of Verbs whether the client has it; updateStatus and
	// applyStatus take HasStatus into account, apply and applyStatus do not
	// know whether there are apply configurations.
	Verb map[string]bool
	// Methods are the extra methods, in the order of their tags.
	Methods []*Method
	// ItemsArePointers is true for lists declared as Items []*T.
	ItemsArePointers bool
	// ListMetaFrom and friends: the package of ObjectMeta (meta/v1 everywhere but in exotic types).
	ObjectMeta TypeRef
	Pos        token.Position
}

// Method is one +genclient:method.
type Method struct {
	Name        string // "UpdateScale"
	Verb        string // "update"
	Subresource string // "scale", or ""
	// Input is the argument's type for create, update and apply; Result the
	// type that comes back. Both default to the kind itself.
	Input, Result TypeRef
	// InputPackage is where Input lives, seen as an API package: its last two
	// path elements name the package of its apply configuration.
	Pos token.Position
}

// TypeRef names a Go type.
type TypeRef struct {
	// Path is the import path, Package the package's name, Name the type's.
	Path, Package, Name string
}
