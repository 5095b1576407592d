package crd

import (
	"cmp"
	"go/token"
	"maps"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/kubewright/kubewright/generators/marker"
)

// Definition is a CustomResourceDefinition.
type Definition struct {
	Pos         token.Position
	Group, Kind string
	// Plural is the resource in paths, Singular and ShortNames are its names in kubectl.
	Plural, Singular       string
	ShortNames, Categories []string
	Namespaced             bool
	// Versions are the served versions.
	Versions []*Version
}

// Version is a version of a definition.
type Version struct {
	Pos     token.Position
	Name    string
	Storage bool
	// Deprecated is true for a deprecated version, Warning what the server then says, "" for its default.
	Deprecated bool
	Warning    string
	Schema     *Schema
	// Status is true if the version has the sub-resource status, Scale not nil if it has scale.
	Status bool
	Scale  *Scale
}

// Scale are the JSON paths of the sub-resource scale.
type Scale struct{ Spec, Status, Selector string }

// apiVersion and kind of what is read.
const (
	crdGroup   = "apiextensions.k8s.io"
	crdVersion = crdGroup + "/v1"
	crdKind    = "CustomResourceDefinition"
)

// Read reads the definitions in manifests, sorted by group and kind. It ignores objects of other kinds. The
// problems are sorted; without a fatal one, the definitions are such that an API server accepts their
// types.
func Read(sources []Source) ([]*Definition, marker.Problems) {
	var all []*Definition
	var problems marker.Problems
	for _, source := range sources {
		r := &reader{file: source.Name}
		for _, doc := range r.documents(source.Text) {
			all = append(all, r.object(doc)...)
		}
		problems = append(problems, r.Problems...)
	}
	slices.SortStableFunc(all, func(a, b *Definition) int {
		return cmp.Or(strings.Compare(a.Group, b.Group), strings.Compare(a.Kind, b.Kind))
	})
	for i := 1; i < len(all); i++ {
		if a, b := all[i-1], all[i]; a.Group == b.Group && a.Kind == b.Kind {
			problems = append(problems, marker.Problem{Pos: b.Pos,
				Message: b.Kind + " of group " + b.Group + " is defined in " + a.Pos.String() + ", too; remove one"})
		}
	}
	return all, problems.Sort()
}

// object reads a document, or an item of one that is a list.
func (r *reader) object(doc value) []*Definition {
	if doc.Kind != yaml.MappingNode {
		return nil // another tool's
	}
	fields := doc.object()
	kind, version := fields["kind"], fields["apiVersion"]
	if kind.Node == nil || version.Node == nil {
		return nil
	}
	switch apiVersion := version.text(); kind.text() {
	case "List", crdKind + "List":
		var all []*Definition
		if items, ok := fields["items"]; ok {
			for _, item := range items.list() {
				all = append(all, r.object(item)...)
			}
		}
		return all
	case crdKind:
		switch {
		case !strings.HasPrefix(apiVersion, crdGroup+"/"):
			return nil
		case apiVersion != crdVersion:
			version.errorf("%s is not served since Kubernetes 1.22; convert the manifest to %s", apiVersion,
				crdVersion)
			return nil
		}
		return r.definition(doc, fields)
	}
	return nil
}

// need returns a field that has to be there. ok is false, and that is reported, if it isn't.
func (v value) need(fields map[string]value, key string) (field value, ok bool) {
	field, ok = fields[key]
	if !ok || field.isNull() {
		path := key
		if v.path != "" {
			path = v.path + "." + key
		}
		if !v.r.endless() {
			v.r.Errorf(v.pos(), "%s: missing", path)
		}
		return value{}, false
	}
	return field, true
}

func (r *reader) definition(doc value, fields map[string]value) []*Definition {
	specValue, ok := doc.need(fields, "spec")
	if !ok {
		return nil
	}
	spec := specValue.object()
	def := &Definition{Pos: doc.pos()}
	if group, ok := specValue.need(spec, "group"); ok {
		def.Group = group.text()
		if def.Group != "" && (!groupName.MatchString(def.Group) || len(def.Group) > 253) {
			group.errorf("%q is not a DNS name", def.Group)
		}
	}
	if scope, ok := specValue.need(spec, "scope"); ok {
		switch s := scope.text(); s {
		case "Namespaced", "Cluster":
			def.Namespaced = s == "Namespaced"
		default:
			scope.errorf("%q is neither Namespaced nor Cluster", s)
		}
	}
	if names, ok := specValue.need(spec, "names"); ok {
		def.names(names)
	}
	if unknown, ok := spec["preserveUnknownFields"]; ok && unknown.flag() {
		unknown.errorf("no server accepts this in %s; set x-kubernetes-preserve-unknown-fields in the schema",
			crdVersion)
	}
	versions, ok := specValue.need(spec, "versions")
	if !ok {
		return nil
	}
	seen := map[string]bool{}
	for _, item := range versions.list() {
		if v := r.version(item, seen); v != nil {
			def.Versions = append(def.Versions, v)
		}
	}
	if len(seen) > 0 && len(def.Versions) == 0 && !r.Problems.Fatal() {
		versions.report(true, "no version is served, so there is nothing to import")
	}
	return []*Definition{def}
}

// The names that can stand in Go code.
var (
	groupName   = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)+$`)
	versionName = regexp.MustCompile(`^[a-z][a-z0-9]*$`)
	kindName    = regexp.MustCompile(`^[A-Z][A-Za-z0-9]*$`)
	// resourceName is that of a resource in paths and in kubectl.
	resourceName = regexp.MustCompile(`^[a-z]([-a-z0-9]*[a-z0-9])?$`)
)

// maxName is the length of the longest name of a kind, a version or a resource.
const maxName = 63

// resource returns the name of a resource. What isn't one is reported.
func (v value) resource() string {
	name := v.text()
	if name != "" && (!resourceName.MatchString(name) || len(name) > maxName) {
		v.errorf("%q can't be the name of a resource, which has lower-case letters, digits and hyphens only", name)
	}
	return name
}

// resources returns a list of names of resources.
func (v value) resources() []string {
	var names []string
	for _, item := range v.list() {
		names = append(names, item.resource())
	}
	return names
}

func (d *Definition) names(names value) {
	fields := names.object()
	if kind, ok := names.need(fields, "kind"); ok {
		d.Kind = kind.text()
		switch {
		case !kindName.MatchString(d.Kind):
			kind.errorf("%q can't be the name of a Go type, as it is no capital letter followed by letters and"+
				" digits; write its types by hand", d.Kind)
		case len(d.Kind) > maxName:
			kind.errorf("%d characters are too many: no server accepts more than %d", len(d.Kind), maxName)
		case slices.Contains(registration, d.Kind):
			kind.errorf("a type %s collides with what registers the types of a package; write its types by hand",
				d.Kind)
		}
	}
	if list, ok := fields["listKind"]; ok && list.text() != "" && list.text() != d.Kind+"List" {
		list.report(true, "generated clients can't list: they know lists of kind %sList only", d.Kind)
	}
	if plural, ok := names.need(fields, "plural"); ok {
		d.Plural = plural.resource()
	}
	if v, ok := fields["singular"]; ok {
		d.Singular = v.resource()
	}
	if v, ok := fields["shortNames"]; ok {
		d.ShortNames = v.resources()
	}
	if v, ok := fields["categories"]; ok {
		d.Categories = v.resources()
	}
}

// registration are the names that the registration of a package declares.
var registration = []string{"GroupName", "GroupVersion", "SchemeGroupVersion", "Resource", "Kind",
	"SchemeBuilder", "AddToScheme", "Install"}

// version reads a version; nil if it isn't served.
func (r *reader) version(item value, seen map[string]bool) *Version {
	fields := item.object()
	v := &Version{Pos: item.pos()}
	name, ok := item.need(fields, "name")
	if !ok {
		return nil
	}
	v.Name = name.text()
	if seen[v.Name] {
		name.errorf("version %s is given twice; remove one", v.Name)
		return nil
	}
	seen[v.Name] = true
	served, ok := item.need(fields, "served")
	if !ok || !served.flag() {
		return nil
	}
	if !versionName.MatchString(v.Name) || len(v.Name) > maxName || token.IsKeyword(v.Name) ||
		slices.Contains([]string{"internal", "main", "vendor", "testdata"}, v.Name) {
		name.errorf("%q can't be the name of a Go package; write its types by hand", v.Name)
	}
	if storage, ok := fields["storage"]; ok {
		v.Storage = storage.flag()
	}
	if deprecated, ok := fields["deprecated"]; ok {
		v.Deprecated = deprecated.flag()
	}
	if warning, ok := fields["deprecationWarning"]; ok {
		v.Warning = warning.text()
	}
	if sub, ok := fields["subresources"]; ok {
		subs := sub.object()
		_, v.Status = subs["status"]
		if scale, ok := subs["scale"]; ok {
			paths := scale.object()
			v.Scale = &Scale{}
			for key, to := range map[string]*string{"specReplicasPath": &v.Scale.Spec,
				"statusReplicasPath": &v.Scale.Status, "labelSelectorPath": &v.Scale.Selector} {
				if path, ok := paths[key]; ok {
					*to = path.line()
				}
			}
		}
	}
	schema, ok := item.need(fields, "schema")
	if !ok {
		return nil
	}
	root, ok := schema.need(schema.object(), "openAPIV3Schema")
	if !ok {
		return nil
	}
	v.Schema = root.schema(true)
	return v
}

// sortedKeys returns the keys in order, so that problems are found in the same one each time.
func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
