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
		r := newReader(source)
		for _, doc := range r.documents(source.Text) {
			all = append(all, r.object(doc)...)
		}
		problems = append(problems, r.Problems...)
	}
	slices.SortStableFunc(all, func(a, b *Definition) int {
		return cmp.Or(strings.Compare(a.Group, b.Group), strings.Compare(a.Kind, b.Kind))
	})
	return all, append(problems, collisions(all)...).Sort()
}

// collisions are about definitions whose types can't be in one package.
func collisions(all []*Definition) marker.Problems {
	var problems marker.Problems
	first := map[string]*Definition{} // by group and kind, in lower case as in file names
	for _, d := range all {
		other := first[d.Group+"/"+strings.ToLower(d.Kind)]
		list := first[d.Group+"/"+strings.TrimSuffix(strings.ToLower(d.Kind), "list")]
		message := ""
		switch {
		case d.Kind == "": // reported
		case other != nil && other.Kind == d.Kind:
			message = "is defined in " + other.Pos.String() + ", too; remove one"
		case other != nil:
			message = "differs only by capitals from " + other.Kind + " in " + other.Pos.String() +
				"; write the types of one by hand"
		case list != nil && list.Kind+"List" == d.Kind:
			message = "has the name of the list of " + list.Kind + " in " + list.Pos.String() +
				"; write the types of one by hand"
		default:
			first[d.Group+"/"+strings.ToLower(d.Kind)] = d
		}
		if message != "" {
			problems = append(problems,
				marker.Problem{Pos: d.Pos, Message: d.Kind + " of group " + d.Group + " " + message})
		}
	}
	return problems
}

// object reads a document, or an item of one that is a list. It ignores what another tool may understand.
func (r *reader) object(doc value) []*Definition {
	kind, _ := doc.field("kind")
	version, _ := doc.field("apiVersion")
	if kind.Node == nil || version.Node == nil || kind.Kind != yaml.ScalarNode {
		return nil
	}
	switch kind.Value {
	case "List", crdKind + "List":
		var all []*Definition
		if items, ok := doc.field("items"); ok && (version.is(crdGroup+"/") || version.is("v1")) {
			for _, item := range items.list() {
				all = append(all, r.object(item)...)
			}
		}
		return all
	case crdKind:
		switch {
		case !version.is(crdGroup + "/"):
			return nil
		case version.Value != crdVersion:
			version.errorf("%s is not served since Kubernetes 1.22; convert the manifest to %s", version.Value,
				crdVersion)
			return nil
		}
		return r.definition(doc, doc.object())
	}
	return nil
}

// need returns a field that has to be there. ok is false, and that is reported, if it isn't.
func (v value) need(fields map[string]value, key string) (field value, ok bool) {
	field, ok = fields[key]
	if !ok || field.isNull() {
		v.path = strings.TrimPrefix(v.path+"."+key, ".")
		v.errorf("missing")
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
	items := versions.list()
	if versions.Kind == yaml.SequenceNode && len(items) == 0 {
		versions.errorf("a definition needs a version")
	}
	for _, item := range items {
		if v := r.version(item, seen); v != nil {
			def.Versions = append(def.Versions, v)
		}
	}
	if len(seen) > 0 && len(def.Versions) == 0 && !r.Problems.Fatal() {
		versions.report(true, "no version is served, so there is nothing to import")
	}
	return []*Definition{def}
}

// The names that can stand in Go code, and those of resources, which stand in markers.
var (
	resourceName = regexp.MustCompile(`^[a-z]([-a-z0-9]*[a-z0-9])?$`)
	groupName    = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)+$`)
	versionName  = regexp.MustCompile(`^[a-z][a-z0-9]*$`)
	kindName     = regexp.MustCompile(`^[A-Z][A-Za-z0-9]*$`)
)

// maxName is the length of the longest name of a kind, a version or a resource.
const maxName = 63

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
		d.Plural = plural.resourceName()
	}
	if v, ok := fields["singular"]; ok && !v.isNull() {
		d.Singular = v.resourceName()
	}
	for key, to := range map[string]*[]string{"shortNames": &d.ShortNames, "categories": &d.Categories} {
		if v, ok := fields[key]; ok {
			for _, item := range v.list() {
				*to = append(*to, item.resourceName())
			}
		}
	}
}

// resourceName returns a string that is a DNS label. Anything else is reported.
func (v value) resourceName() string {
	before := v.r.errors()
	name := v.text()
	if v.r.errors() == before && (!resourceName.MatchString(name) || len(name) > maxName) {
		v.errorf("%q is not a DNS label: at most %d lower-case letters, digits and -, a letter first", name, maxName)
	}
	return name
}

// registration are the names that the registration of a package declares.
var registration = []string{"GroupName", "GroupVersion", "SchemeGroupVersion", "Resource", "Kind",
	"SchemeBuilder", "AddToScheme", "Install"}

// scalePath matches the paths of the sub-resource scale.
var scalePath = regexp.MustCompile(`^(\.[\w-]+)+$`)

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
				if path, ok := paths[key]; ok && !path.isNull() {
					if *to = path.text(); *to != "" && !scalePath.MatchString(*to) {
						path.errorf("%q is no path such as .spec.replicas", *to)
					}
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
