package crd

import (
	"cmp"
	"fmt"
	"go/token"
	"runtime"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"

	"github.com/kubewright/kubewright/generators/internal/marker"
	"github.com/kubewright/kubewright/generators/internal/model"
)

// DefinitionOptions control how types become definitions.
type DefinitionOptions struct {
	// MaxDescription is the length of the longest description in bytes, less than zero for no limit.
	MaxDescription int
	// EmbeddedMetadata gives the metadata of embedded objects a schema.
	EmbeddedMetadata bool
	// AllowFloats allows fields of the types float32 and float64.
	AllowFloats bool
	// Strict is that of [marker.Reporter].
	Strict bool
}

// Made is a definition that was made of types.
type Made struct {
	*Definition
	// Text is the YAML, and begins with "---".
	Text []byte
	// Types are the types of its versions, sorted by version.
	Types []*model.CRDType
	// Refused means that an API server wouldn't accept it. Then the fields of the Definition may be wrong.
	Refused bool
	tree    *yaml.Node
}

// File is the name of its file.
func (m *Made) File() string { return m.Group + "_" + m.Plural + ".yaml" }

// Make makes the definitions of all kinds, sorted by group and kind. If a problem isn't just a warning, an
// API server wouldn't accept them.
func (o DefinitionOptions) Make(types *model.CRDs) ([]*Made, marker.Problems) {
	b := &typeBuilder{DefinitionOptions: o, types: types,
		made: map[string]*node{}, flat: map[string]*node{}}
	b.Reporter = marker.Reporter{Strict: o.Strict, Problems: slices.Clone(types.Problems)}
	b.merger = merger{done: map[*node]*node{}, conflict: func(at token.Position, x, y string) {
		b.Errorf(at, "a field and its type, or two of the same key, have the types %s and %s; give them one", x, y)
	}}
	trees := schemaTrees{map[*node]*yaml.Node{}, o.MaxDescription}
	var all []*Made
	for _, kinds := range b.kinds() {
		m := &Made{Types: kinds}
		m.tree = b.definition(kinds, trees)
		r := &reader{maxVisits: 1 << 40, reported: map[problemOf]bool{}, fromTypes: true}
		for _, def := range r.object(value{Node: m.tree, r: r}) {
			m.Definition = def
		}
		m.Refused = r.Problems.Fatal()
		b.reportServers(r.Problems)
		if m.Definition != nil {
			all = append(all, m)
		}
	}
	b.checkFiles(all)
	if !b.Problems.Fatal() {
		b.texts(all)
	}
	return all, b.Problems.Sort()
}

// texts sets the texts of definitions.
func (b *typeBuilder) texts(all []*Made) {
	errs := make([]error, len(all))
	// Not all at once, as a text takes ten times its size until it is done.
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	var working sync.WaitGroup
	for i, m := range all {
		slots <- struct{}{}
		working.Go(func() {
			m.Text, errs[i] = yamlOf(m.tree)
			<-slots
		})
	}
	working.Wait()
	for i, err := range errs {
		if err != nil {
			b.Errorf(all[i].Pos, "%v", err)
		}
	}
}

// reportServers reports what servers refuse, which controller-gen accepts. It leaves out what follows from a
// problem that was reported at the same place.
func (b *typeBuilder) reportServers(problems marker.Problems) {
	before := map[string]bool{}
	for _, problem := range b.Problems {
		before[problem.Pos.String()] = before[problem.Pos.String()] || !problem.Warning
	}
	for _, problem := range problems {
		if !before[problem.Pos.String()] {
			b.Report(problem.Warning || !b.DefinitionOptions.Strict, problem.Pos, "%s", problem.Message)
		}
	}
}

// kinds returns the types of each kind, by version, sorted by group and kind. A package without a group has
// no definitions.
func (b *typeBuilder) kinds() [][]*model.CRDType {
	var all []*model.CRDType
	var skipped *model.CRDPackage
	for _, p := range b.types.Packages {
		switch {
		case p.Skip: // Its kinds aren't read.
			skipped = cmp.Or(skipped, p)
		case len(p.Kinds) == 0:
		case !p.HasGroup:
			b.Warnf(p.Kinds[0].Pos, "%s gets no definition, as its package has no group; write // +groupName=, or "+
				"// +kubebuilder:skip, above the package clause", p.Kinds[0].Name)
		default:
			for _, t := range p.Kinds {
				if !marker.HasCRD(t.Markers, "kubebuilder:skipversion") {
					all = append(all, t)
				}
			}
		}
	}
	if skipped != nil && len(all) == 0 {
		b.Warnf(skipped.Pos, "no definition is made, as +kubebuilder:skip leaves out this package")
	}
	slices.SortStableFunc(all, func(x, y *model.CRDType) int {
		return cmp.Or(strings.Compare(x.Package.Group, y.Package.Group), strings.Compare(x.Name, y.Name),
			strings.Compare(x.Package.Version, y.Package.Version))
	})
	var kinds [][]*model.CRDType
	for i, t := range all {
		if i > 0 && all[i-1].Name == t.Name && all[i-1].Package.Group == t.Package.Group {
			kinds[len(kinds)-1] = append(kinds[len(kinds)-1], t)
		} else {
			kinds = append(kinds, []*model.CRDType{t})
		}
	}
	return kinds
}

// checkFiles reports definitions that would be in one file.
func (b *typeBuilder) checkFiles(all []*Made) {
	first := map[string]*Made{}
	for _, m := range all {
		if other := first[m.File()]; other != nil {
			b.Errorf(m.Pos, "%s has the plural %s, like %s in %v; give one of them another with "+
				"+kubebuilder:resource:path=", m.Kind, m.Plural, other.Kind, other.Pos)
		}
		first[m.File()] = m
	}
}

// definition returns the tree of the definition of a kind.
func (b *typeBuilder) definition(kinds []*model.CRDType, trees schemaTrees) *yaml.Node {
	kind, pos := kinds[0].Name, kinds[0].Pos
	group := keyed{kinds[0].Package.Group, kinds[0].Package.Pos}
	names := map[string]any{"kind": kind, "listKind": kind + "List", "singular": strings.ToLower(kind),
		"plural": Plural(kind)}
	spec := map[string]any{"group": group, "scope": "Namespaced"}
	metadata := map[string]any{}
	var versions []any
	var resource *marker.CRDMarker
	for _, t := range kinds {
		version := b.version(t, trees)
		if len(kinds) == 1 {
			version["storage"] = true
		}
		versions = append(versions, treeOf(version, t.Pos))
		var own *marker.CRDMarker
		for _, m := range t.Markers {
			switch m.Name {
			case "kubebuilder:resource":
				if resource != nil && own == nil && jsonOf(resource.Args) != jsonOf(m.Args) {
					for _, at := range [][2]*marker.CRDMarker{{&m, resource}, {resource, &m}} {
						b.Errorf(at[0].Pos, "+kubebuilder:resource differs from that of another version in %v; the names "+
							"and the scope of a resource are those of all its versions", at[1].Pos)
					}
				}
				resource, own = &m, &m
				b.resource(m, names, spec)
			case "kubebuilder:metadata":
				b.metadata(m, metadata)
			}
		}
	}
	name := keyed{names["plural"], pos}
	if given, ok := names["plural"].(keyed); ok {
		name = given
	}
	metadata["name"] = keyed{fmt.Sprintf("%v.%v", name.value, group.value), name.pos}
	spec["names"], spec["versions"] = names, versions
	return treeOf(map[string]any{"apiVersion": crdVersion, "kind": crdKind, "metadata": metadata, "spec": spec},
		pos)
}

// resource applies a marker with the names and the scope.
func (b *typeBuilder) resource(m marker.CRDMarker, names, spec map[string]any) {
	for arg, key := range map[string]string{"path": "plural", "singular": "singular"} {
		if text := m.Text(arg); text != "" {
			names[key] = keyed{text, m.Pos}
		}
	}
	for arg, key := range map[string]string{"shortName": "shortNames", "categories": "categories"} {
		delete(names, key)
		if list, _ := m.Args[arg].([]any); len(list) > 0 {
			names[key] = keyed{list, m.Pos}
		}
	}
	spec["scope"] = keyed{cmp.Or(m.Text("scope"), "Namespaced"), m.Pos}
}

// metadata applies a marker with annotations and labels of the definition.
func (b *typeBuilder) metadata(m marker.CRDMarker, metadata map[string]any) {
	for arg, given := range m.Args {
		for _, item := range given.([]any) {
			key, text, ok := strings.Cut(item.(string), "=")
			if !ok {
				b.Errorf(m.Pos, "%q has no equals sign; write %s=\"key=value\"", item, arg)
			}
			if metadata[arg] == nil {
				metadata[arg] = map[string]any{}
			}
			metadata[arg].(map[string]any)[key] = keyed{text, m.Pos}
		}
	}
}

// version returns a version of a definition.
func (b *typeBuilder) version(t *model.CRDType, trees schemaTrees) map[string]any {
	root := b.merger.merge(b.flatten(&reference{name: t.TypeName}, t.Pos)).clone()
	if metadata := root.properties["metadata"]; metadata != nil {
		root.properties["metadata"] = newNode(metadata.pos, "object", "")
	}
	version := map[string]any{"name": t.Package.Version, "served": true, "storage": false,
		"schema": map[string]any{"openAPIV3Schema": trees.tree(root, t.Pos)}}
	sub := map[string]any{}
	list := func(key string, item map[string]any, pos token.Position) {
		items, _ := version[key].([]any)
		version[key] = append(items, keyed{item, pos})
	}
	for _, m := range t.Markers {
		switch m.Name {
		case "kubebuilder:storageversion":
			version["storage"] = keyed{true, m.Pos}
		case "kubebuilder:unservedversion":
			version["served"] = keyed{false, m.Pos}
		case "kubebuilder:deprecatedversion":
			version["deprecated"] = keyed{true, m.Pos}
			delete(version, "deprecationWarning")
			if warning, ok := m.Args["warning"]; ok {
				version["deprecationWarning"] = keyed{warning, m.Pos}
			}
		case "kubebuilder:subresource:status":
			sub["status"] = keyed{map[string]any{}, m.Pos}
		case "kubebuilder:subresource:scale":
			scale := map[string]any{"specReplicasPath": m.Text("specpath"), "statusReplicasPath": m.Text("statuspath")}
			if selector, ok := m.Args["selectorpath"]; ok {
				scale["labelSelectorPath"] = selector
			}
			sub["scale"] = keyed{scale, m.Pos}
		case "kubebuilder:printcolumn":
			column := nonEmpty(m.Args)
			column["name"], column["type"] = m.Text("name"), m.Text("type")
			delete(column, "JSONPath")
			column["jsonPath"] = m.Text("JSONPath")
			if column["priority"] == 0 {
				delete(column, "priority")
			}
			list("additionalPrinterColumns", column, m.Pos)
		case "kubebuilder:selectablefield":
			list("selectableFields", map[string]any{"jsonPath": m.Text("JSONPath")}, m.Pos)
		}
	}
	if len(sub) > 0 || version["additionalPrinterColumns"] != nil { // as controller-gen does it
		version["subresources"] = sub
	}
	return version
}
