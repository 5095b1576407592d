// Package model turns annotated packages into the sorted, validated picture
// that the generators work from: groups, versions, kinds, methods and every
// name that a template may need. Loading is syntax only; see load.go.
package model

import (
	"go/token"

	"github.com/kubewright/kubewright/generators/marker"
)

// API is everything that one run generates for.
type API struct {
	// Groups are sorted as client-gen sorts them: by the element of the input
	// path that names them.
	Groups []*Group
	// Packages are all packages of the input, those without a client too: in
	// the order of the input where that gave groups and versions, by import
	// path otherwise.
	Packages []*Package
	// Apply is nil unless apply configurations are to be generated.
	Apply *Apply
	// Types are the kinds that can have read-only views and all types that they
	// lead to, nil unless views are to be generated.
	Types map[TypeName]*Type
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
	// GoName is the exported identifier: "Rbac", "Core", "CertManager". Where
	// the packages of the group disagree it is the last one's, as in informer-gen.
	GoName string
	// Versions are in the order of API.Packages.
	Versions []*Version

	// element is what PackageName was made of, "" for the core group without a name.
	element string
}

// Version is one group version, one Go package of API types.
type Version struct {
	Group *Group
	// Name is the version, "" for an internal (hub) package.
	Name string
	// GoName is "V1", or "InternalVersion" (which the methods of clientsets
	// leave out: Wardle(), not WardleInternalVersion()).
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
	// Path is the import path, Name the name in its package clause, Dir its
	// folder, absolute.
	Path, Name, Dir string
	// Pos is where problems of the whole package are reported.
	Pos token.Position
	// Client, Lister and Informer say whether each generator is to run for
	// the package (+k8s:client-gen=false and its kin opt out).
	Client, Lister, Informer bool
	// HasResource, HasSchemeGroupVersion and HasAddToScheme say what the
	// package declares, by hand or in generated files.
	HasResource, HasSchemeGroupVersion, HasAddToScheme bool
	// Version is nil for a package without a place in the output.
	Version *Version
}

// Verbs are the default verbs, in the order in which they are written.
var Verbs = marker.Verbs

// Kind is an API type with a client.
type Kind struct {
	Version *Version
	// Name is the Go type and the kind: "Deployment".
	Name string
	// Private is "deployment", Plural "Deployments", PrivatePlural
	// "deployments", Lower the all-lowercase singular.
	Private, Plural, PrivatePlural, Lower string
	// File names generated files, without ".go": Lower, but for kinds whose
	// file would be another file of the same folder ("doc", "interface"), or
	// whose underscore could mean a test or a platform to the go command.
	File string
	// Resource is the REST resource: "deployments", or what +resourceName says.
	Resource string
	// LowerPlural is the all-lowercase plural, which +resourceName leaves alone.
	LowerPlural string
	Namespaced  bool
	// NoVerbs leaves an interface with nothing but its expansion, and no
	// informer. Verb doesn't know of it.
	NoVerbs bool
	// HasStatus is true for a type with a Status field and no +genclient:noStatus.
	HasStatus bool
	// Verb says for each of Verbs whether the client has it; updateStatus and
	// applyStatus take HasStatus into account, apply and applyStatus do not
	// know whether there are apply configurations.
	Verb map[string]bool
	// Methods are the extra methods, in the order of their tags.
	Methods []*Method
	// ObjectMeta is the type of the field of that name: meta/v1's everywhere
	// but in exotic types; empty where it comes by way of another struct.
	ObjectMeta TypeRef
	// Pos is the place of the type's name.
	Pos token.Position

	// hub is true when ObjectMeta has no json tag.
	hub bool
	// applies is true with a verb that applies, whether or not there is a status.
	applies bool
}

// HasLister reports whether the kind has what lister-gen asks for.
func (k *Kind) HasLister() bool { return k.Verb["list"] && k.Verb["get"] }

// HasInformer reports whether the kind has what informer-gen asks for.
func (k *Kind) HasInformer() bool { return !k.NoVerbs && k.Verb["list"] && k.Verb["watch"] }

// Method is one +genclient:method.
type Method struct {
	Name        string // "UpdateScale"
	Verb        string // "update"
	Subresource string // "scale", or ""
	// Input is the argument's type for create, update and apply; Result the
	// type that comes back, for list the type of the items: the method returns
	// that name with "List" appended. Both default to the kind itself.
	Input, Result TypeRef
	// Pos is the place of the tag.
	Pos token.Position

	inputPos, resultPos token.Position
	// localInput is true for an input that the tag names without a package.
	localInput bool
}

// TypeRef names a Go type.
type TypeRef struct {
	// Path is the import path, Package the package's name, Name the type's.
	Path, Package, Name string
}
