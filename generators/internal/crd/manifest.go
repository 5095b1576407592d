package crd

import (
	"cmp"
	"go/token"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/kubewright/kubewright/generators/internal/marker"
)

// Definition is a CustomResourceDefinition.
type Definition struct {
	Pos         token.Position
	Group, Kind string
	// Plural is the resource in paths, Singular and ShortNames are its names in kubectl.
	Plural, Singular       string
	ShortNames, Categories []string
	Namespaced             bool
	// Approval is what an annotation of a definition of Kubernetes' own groups says about its approval.
	Approval string
	// Versions are the served versions.
	Versions []*Version
}

// Version is a version of a definition.
type Version struct {
	Pos     token.Position
	Name    string
	Storage bool
	// Deprecated is true for a deprecated version, Warning the message that the server sends, "" for its
	// default.
	Deprecated bool
	Warning    string
	Schema     *Schema
	// Status is true if the version has the subresource status, Scale not nil if it has scale.
	Status bool
	Scale  *Scale
	// Columns are the arguments of the columns that kubectl prints, by the names of the markers' arguments;
	// Selectable are the JSON paths of fields that clients can select objects by.
	Columns    [][]Limit
	Selectable []string
}

// Scale are the JSON paths of the subresource scale.
type Scale struct{ Spec, Status, Selector string }

// The apiVersion and kind of definitions.
const (
	crdGroup   = "apiextensions.k8s.io"
	crdVersion = crdGroup + "/v1"
	crdKind    = "CustomResourceDefinition"
)

// Read reads the definitions in manifests, sorted by group and kind. It ignores objects of other kinds. The
// problems are sorted. If none is fatal, an API server accepts the types of the definitions.
func Read(sources []Source) ([]*Definition, marker.Problems) {
	var all []*Definition
	var problems, without marker.Problems
	for _, source := range sources {
		r := newReader(source)
		docs := r.documents(source.Text)
		for _, doc := range docs {
			all = append(all, r.object(doc)...)
		}
		problems = append(problems, r.Problems...)
		if len(docs) > 0 {
			without = append(without, marker.Problem{Pos: docs[0].pos(),
				Message: "there is no CustomResourceDefinition, but " + kinds(docs)})
		}
	}
	if len(all) == 0 && !problems.Fatal() { // report what the manifests have instead
		problems = append(problems, without...)
	}
	slices.SortStableFunc(all, func(a, b *Definition) int {
		return cmp.Or(strings.Compare(a.Group, b.Group), strings.Compare(a.Kind, b.Kind))
	})
	return all, append(problems, collisions(all)...).Sort()
}

// kinds names the kinds of documents.
func kinds(docs []value) string {
	var kinds []string
	for _, doc := range docs {
		if kind, ok := doc.field("kind"); ok && kind.Kind == yaml.ScalarNode && len(kind.Value) <= maxName &&
			!slices.Contains(kinds, strconv.Quote(kind.Value)) {
			kinds = append(kinds, strconv.Quote(kind.Value))
		}
	}
	if len(kinds) == 0 {
		return "objects without a kind"
	}
	return "kind " + strings.Join(kinds, ", ")
}

// collisions reports definitions whose types can't be in one package.
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

// object reads a document, or an item of a document that is a list. It ignores objects that may be for
// another tool.
func (r *reader) object(doc value) []*Definition {
	kind, _ := doc.field("kind")
	version, _ := doc.field("apiVersion")
	if kind.Node == nil || kind.Kind != yaml.ScalarNode {
		return nil
	}
	if suggestion := marker.Suggest(kind.Value, []string{crdKind}); suggestion != "" && kind.Value != crdKind {
		kind.errorf("%q is no kind of Kubernetes%s", kind.Value, suggestion)
		return nil
	}
	if version.Node == nil {
		if kind.Value == crdKind {
			doc.need(nil, "apiVersion")
		}
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
			if suggestion := marker.Suggest(version.Value, []string{crdVersion}); suggestion != "" ||
				!strings.Contains(version.Value, "/") {
				version.errorf("%q has no kind %s%s", version.Value, crdKind, suggestion)
			}
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

// specFields are the fields of a definition's spec.
var specFields = []string{"group", "scope", "names", "versions", "conversion", "preserveUnknownFields"}

// metadata checks what servers demand of a definition's metadata. The name is compared only if group and
// plural are valid.
func (d *Definition) metadata(metadata value) {
	fields := metadata.object()
	if name, ok := metadata.need(fields, "name"); ok {
		if got, want := name.text(), d.Plural+"."+d.Group; got != want &&
			resourceName.MatchString(d.Plural) && groupName.MatchString(d.Group) {
			name.errorf("%q has to be the plural and the group, %q", got, want)
		}
	}
	if !protectedGroup.MatchString(d.Group) {
		return
	}
	annotations := fields["annotations"]
	if annotations.Node == nil {
		annotations = metadata
	}
	approval := annotations.object()[approvalAnnotation]
	if approval.Node == nil {
		approval = annotations
	} else {
		d.Approval = approval.text()
	}
	if u, err := url.ParseRequestURI(d.Approval); !strings.HasPrefix(d.Approval, "unapproved") &&
		(err != nil || u.Host == "" || u.Scheme == "") {
		approval.errorf("a group of Kubernetes needs the annotation %s: the URL of its approval, or \"unapproved\""+
			" and a reason", approvalAnnotation)
	}
}

// protectedGroup matches Kubernetes' own groups: servers want an approval in their definitions.
var protectedGroup = regexp.MustCompile(`^(.*\.)?(k8s|kubernetes)\.io$`)

const approvalAnnotation = "api-approved.kubernetes.io"

// need returns a required field. If it is missing, need reports that, and ok is false.
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
	specValue.known(spec, specFields, nil)
	def := &Definition{Pos: doc.pos()}
	if group, ok := specValue.need(spec, "group"); ok {
		before := r.errors()
		def.Group = group.text()
		if r.errors() == before && (!groupName.MatchString(def.Group) || len(def.Group) > 253) {
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
	if metadata, ok := doc.need(fields, "metadata"); ok {
		def.metadata(metadata)
	}
	if conversion, ok := spec["conversion"]; ok {
		conversion.conversion()
	}
	if versions, ok := specValue.need(spec, "versions"); ok {
		def.versions(versions)
	}
	return []*Definition{def}
}

// The names that can be used in Go code, and those of resources, which are used in markers.
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
	names.known(fields, []string{"kind", "listKind", "plural", "singular", "shortNames", "categories"}, nil)
	if kind, ok := names.need(fields, "kind"); ok {
		d.Kind = kind.text()
		switch {
		case !kindName.MatchString(d.Kind):
			kind.errorf("%q can't be the name of a Go type, as it is no capital letter followed by letters and"+
				" digits; write its types by hand", d.Kind)
		case len(d.Kind) > maxName:
			kind.errorf("%d characters are too many: no server accepts more than %d", len(d.Kind), maxName)
		case d.Kind == "AddToScheme":
			kind.errorf("a type AddToScheme collides with the function that registers the types of a package, which " +
				"clientsets call; write its types by hand")
		}
	}
	switch list, ok := fields["listKind"]; {
	case !ok || list.text() == "" || list.text() == d.Kind+"List":
	case list.text() == d.Kind:
		list.errorf("is the kind itself; no server accepts that")
	case !resourceName.MatchString(strings.ToLower(list.text())) || len(list.text()) > maxName:
		list.errorf("%q is no name of a kind", list.text())
	default:
		list.report(true, "generated clients can't list: they know lists of kind %sList only", d.Kind)
	}
	if plural, ok := names.need(fields, "plural"); ok {
		d.Plural = plural.resourceName()
	}
	if v, ok := fields["singular"]; ok && v.text() != "" {
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
		v.errorf("%q is not a DNS label: at most %d lower-case letters, digits and -, a letter first",
			name, maxName)
	}
	return name
}

// registration are the names that the registration of a package declares.
var registration = []string{"GroupName", "GroupVersion", "SchemeGroupVersion", "Resource", "SchemeBuilder",
	"AddToScheme", "Install"}

// Registers reports whether the registration of a package usually declares a name.
func Registers(name string) bool { return slices.Contains(registration, name) }

// sortedKeys returns the keys in order, so that problems are always found in the same order.
func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
