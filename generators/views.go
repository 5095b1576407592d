package generators

import (
	"go/token"
	"slices"
	"strings"

	"github.com/kubewright/kubewright/generators/internal/model"
	"github.com/kubewright/kubewright/generators/internal/render"
)

// The packages of the runtime that generated code calls are below runtimePath.
const (
	runtimePath = "github.com/kubewright/kubewright/runtime/"
	applyPath   = runtimePath + "gen/apply"
	viewPath    = runtimePath + "gen/view"
)

// packages are the packages that templates refer to by name, as in {{metav1}}. A package
// has an alias if its base name is that of another package of the list, or of a variable
// in generated code.
func packages() map[string]render.Package {
	at := func(path string) render.Package { return render.Package{Path: path} }
	return map[string]render.Package{
		"context": at("context"),
		"fmt":     at("fmt"),
		"http":    at("net/http"),
		"reflect": at("reflect"),
		"sync":    at("sync"),
		"time":    at("time"),

		"json":          at("k8s.io/apimachinery/pkg/util/json"),
		"labels":        at("k8s.io/apimachinery/pkg/labels"),
		"managedfields": at("k8s.io/apimachinery/pkg/util/managedfields"),
		"metav1":        at("k8s.io/apimachinery/pkg/apis/meta/v1"),
		"runtime":       at("k8s.io/apimachinery/pkg/runtime"),
		"schema":        at("k8s.io/apimachinery/pkg/runtime/schema"),
		"serializer":    at("k8s.io/apimachinery/pkg/runtime/serializer"),
		"types":         at("k8s.io/apimachinery/pkg/types"),
		"unstructured":  at("k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"),
		"utilruntime":   {Path: "k8s.io/apimachinery/pkg/util/runtime", Alias: "utilruntime"},
		"watch":         at("k8s.io/apimachinery/pkg/watch"),

		"cache":         at("k8s.io/client-go/tools/cache"),
		"discovery":     at("k8s.io/client-go/discovery"),
		"fakediscovery": {Path: "k8s.io/client-go/discovery/fake", Alias: "fakediscovery"},
		"metadata":      at("k8s.io/client-go/metadata"),
		"rest":          at("k8s.io/client-go/rest"),
		"testing":       at("k8s.io/client-go/testing"),

		"apply":       at(applyPath),
		"applyschema": at(runtimePath + "gen/applyschema"),
		"client":      at(runtimePath + "gen/client"),
		"clientfake":  {Path: runtimePath + "gen/fake", Alias: "clientfake"}, // the files are in packages fake
		"factory":     at(runtimePath + "gen/factory"),
		"informer":    at(runtimePath + "gen/informer"),
		"lister":      at(runtimePath + "gen/lister"),
		"version":     at(runtimePath + "version"),
		"view":        at(viewPath),
	}
}

// apiView is a package of API types.
type apiView struct {
	Package render.Package
	// HasResource and HasSchemeGroupVersion are true if the package declares the
	// identifier. Generated code then uses it instead of Group and Version.
	HasResource, HasSchemeGroupVersion bool
	// Group and Version are the API group and version.
	Group, Version string
}

// newAPIView builds the view of a version's API types.
func newAPIView(v *model.Version) apiView {
	return apiView{
		Package:               apiPackage(v),
		HasResource:           v.Package.HasResource,
		HasSchemeGroupVersion: v.Package.HasSchemeGroupVersion,
		Group:                 v.Group.Name,
		Version:               v.Name,
	}
}

// docView is the view of a doc.go.
type docView struct{ PackageName, Comment string }

// expansionView is the view of a file of empty expansion interfaces, for the kinds
// without hand-written ones.
type expansionView struct {
	PackageName string
	// GroupVersion is the form of the group version in comments.
	GroupVersion string
	Kinds        []*model.Kind
}

// apiPackage is the package of a version's types, with an alias such as corev1.
func apiPackage(v *model.Version) render.Package {
	return render.Package{Path: v.Package.Path, Alias: versionAlias("", v)}
}

// versionAlias is an alias for a package of a version.
func versionAlias(prefix string, v *model.Version) string {
	return prefix + strings.ToLower(v.GoGroupName) + v.PackageName
}

// typeIdent is the type of a kind.
func typeIdent(k *model.Kind) render.Ident { return apiPackage(k.Version).Ident(k.Name) }

// methodName is the method of a clientset that returns a version: AppsV1, or Apps for
// internal types.
func methodName(v *model.Version) string {
	if v.Name == "" { // GoName is InternalVersion, which client-gen leaves out
		return v.GoGroupName
	}
	return v.GoGroupName + v.GoName
}

// groupVersion is a group version in comments: apps/v1.
func groupVersion(v *model.Version) string {
	return model.NonEmptyGroup(v.Group.Name) + "/" + v.PackageName
}

// private and exported return an identifier with a lower-case and an upper-case first
// letter. Like gengo's IL and IC they change one byte: identifiers of API types are
// ASCII.
func private(name string) string  { return strings.ToLower(name[:1]) + name[1:] }
func exported(name string) string { return strings.ToUpper(name[:1]) + name[1:] }

// parameter is the name of a parameter that would best be called name, which may be a
// keyword or the name of another parameter: there are kinds called Type and Opts.
func parameter(name string) string {
	if token.IsKeyword(name) || slices.Contains([]string{"ctx", "c", "opts", "result", "err"}, name) {
		return name + "_"
	}
	return name
}

// typeText is a type as Go source. aliases are the aliases of packages by import path.
func typeText(aliases map[string]string, e *model.Expr) string {
	switch e.Form {
	case model.Pointer:
		return "*" + typeText(aliases, e.Elem)
	case model.Slice:
		return "[]" + typeText(aliases, e.Elem)
	case model.Array:
		return "[" + e.Text + "]" + typeText(aliases, e.Elem)
	case model.Map:
		return "map[" + typeText(aliases, e.Key) + "]" + typeText(aliases, e.Elem)
	case model.Literal:
		return e.Text
	}
	text := e.Name.Name
	if e.Name.Path != "" {
		text = render.Package{Path: e.Name.Path, Alias: aliases[e.Name.Path]}.Ident(e.Name.Name).String()
	}
	if len(e.Args) == 0 {
		return text
	}
	var args []string
	for _, arg := range e.Args {
		args = append(args, typeText(aliases, arg))
	}
	return text + "[" + strings.Join(args, ", ") + "]"
}
