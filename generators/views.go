package generators

import (
	"go/token"
	"slices"
	"strings"

	"github.com/kubewright/kubewright/generators/model"
	"github.com/kubewright/kubewright/generators/render"
)

// runtimePath is where the packages are that generated code calls.
const (
	runtimePath = "github.com/kubewright/kubewright/runtime/"
	applyPath   = runtimePath + "client/apply"
)

// packages are the packages that templates know by name, as {{metav1}}.
func packages() map[string]render.Package {
	at := func(path string) render.Package { return render.Package{Path: path} }
	return map[string]render.Package{
		"context": at("context"),
		"fmt":     at("fmt"),
		"http":    at("net/http"),
		"reflect": at("reflect"),
		"time":    at("time"),

		"sync": at("sync"),

		"labels":        at("k8s.io/apimachinery/pkg/labels"),
		"managedfields": at("k8s.io/apimachinery/pkg/util/managedfields"),
		"metav1":        at("k8s.io/apimachinery/pkg/apis/meta/v1"),
		"runtime":       at("k8s.io/apimachinery/pkg/runtime"),
		"schema":        at("k8s.io/apimachinery/pkg/runtime/schema"),
		"serializer":    at("k8s.io/apimachinery/pkg/runtime/serializer"),
		"types":         at("k8s.io/apimachinery/pkg/types"),
		"utilruntime":   {Path: "k8s.io/apimachinery/pkg/util/runtime", Alias: "utilruntime"},
		"watch":         at("k8s.io/apimachinery/pkg/watch"),

		"cache":         at("k8s.io/client-go/tools/cache"),
		"discovery":     at("k8s.io/client-go/discovery"),
		"fakediscovery": {Path: "k8s.io/client-go/discovery/fake", Alias: "fakediscovery"},
		"metadata":      at("k8s.io/client-go/metadata"),
		"rest":          at("k8s.io/client-go/rest"),
		"testing":       at("k8s.io/client-go/testing"),

		"typed": at("sigs.k8s.io/structured-merge-diff/v6/typed"),

		"apply":      at(applyPath),
		"client":     at(runtimePath + "client"),
		"clientfake": {Path: runtimePath + "client/fake", Alias: "clientfake"},
		"factories":  {Path: runtimePath + "factory", Alias: "factories"},
		"informers":  {Path: runtimePath + "informer", Alias: "informers"},
		"listers":    {Path: runtimePath + "lister", Alias: "listers"},
		"version":    at(runtimePath + "version"),
		"view":       at(viewPath),
	}
}

// apiView is a package of API types.
type apiView struct {
	Package render.Package
	// HasResource and HasSchemeGroupVersion say what the package declares.
	HasResource, HasSchemeGroupVersion bool
	// Group and Version are the API's.
	Group, Version string
}

func newAPIView(v *model.Version) apiView {
	return apiView{
		Package:               apiPackage(v),
		HasResource:           v.Package.HasResource,
		HasSchemeGroupVersion: v.Package.HasSchemeGroupVersion,
		Group:                 v.Group.Name,
		Version:               v.Name,
	}
}

// docView is a doc.go.
type docView struct{ PackageName, Comment string }

// expansionView is a file of interfaces to be replaced by hand-written ones.
type expansionView struct {
	PackageName string
	Kinds       []*model.Kind
}

// apiPackage is the package of a version's types, called corev1 or the like.
func apiPackage(v *model.Version) render.Package {
	return render.Package{Path: v.Package.Path, Alias: versionAlias("", v)}
}

// versionAlias is a name for a package that belongs to a version.
func versionAlias(prefix string, v *model.Version) string {
	return prefix + strings.ToLower(v.GoGroupName) + v.PackageName
}

// typeIdent is a kind's type.
func typeIdent(k *model.Kind) render.Ident { return apiPackage(k.Version).Ident(k.Name) }

// methodName is what clientsets call a version: AppsV1, or Apps for internal types.
func methodName(v *model.Version) string {
	if v.Name == "" {
		return v.GoGroupName
	}
	return v.GoGroupName + v.GoName
}

// groupVersion is a version as people write it: apps/v1.
func groupVersion(v *model.Version) string {
	return nonEmptyGroup(v.Group) + "/" + v.PackageName
}

func nonEmptyGroup(g *model.Group) string {
	if g.Name == "" {
		return "core"
	}
	return g.Name
}

// private is an identifier with a small first letter, as upstream makes one.
func private(name string) string { return strings.ToLower(name[:1]) + name[1:] }

// parameter is a legal name for a parameter that is best called name. Kinds may
// have names like Type or Opts.
func parameter(name string) string {
	if token.IsKeyword(name) || slices.Contains([]string{"ctx", "c", "opts", "result", "err"}, name) {
		return name + "_"
	}
	return name
}
