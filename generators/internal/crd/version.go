package crd

import (
	"go/token"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/kubewright/kubewright/generators/internal/marker"
)

// versions reads the versions, and checks also those that aren't served.
func (d *Definition) versions(versions value) {
	r, before := versions.r, versions.r.errors()
	items := versions.list()
	if r.errors() > before {
		return
	}
	if len(items) == 0 {
		versions.errorf("a definition needs a version")
		return
	}
	seen, storage := map[string]bool{}, ""
	var lastServed value
	for _, item := range items {
		fields := item.object()
		v := item.version(fields, seen)
		if flag, ok := fields["storage"]; ok && flag.flag() {
			if storage != "" {
				flag.errorf("%s has storage: true, too; servers store one version", storage)
			}
			storage = item.path
		}
		served, ok := item.need(fields, "served")
		if lastServed = served; ok && served.flag() && v != nil {
			v.checkNames(fields["name"])
			d.Versions = append(d.Versions, v)
		}
	}
	if storage == "" {
		advice := ""
		if r.fromTypes {
			advice = "; write +kubebuilder:storageversion above that type"
		}
		versions.errorf("none has storage: true; servers store one version%s", advice)
	}
	if len(d.Versions) == 0 && r.errors() == before {
		if r.fromTypes {
			lastServed.errorf("no version is served; remove a +kubebuilder:unservedversion")
		} else {
			versions.report(true, "no version is served, so there is nothing to import")
		}
	}
}

// versionFields are the fields of a version.
var versionFields = []string{"name", "served", "storage", "deprecated", "deprecationWarning", "schema",
	"subresources", "additionalPrinterColumns", "selectableFields"}

// version reads a version. It returns nil if the name is missing or taken by an earlier version.
func (v value) version(fields map[string]value, seen map[string]bool) *Version {
	v.known(fields, versionFields, nil)
	name, ok := v.need(fields, "name")
	if !ok {
		return nil
	}
	version := &Version{Pos: v.pos(), Name: name.text()}
	if seen[version.Name] {
		name.errorf("version %s is given twice; remove one", version.Name)
		return nil
	}
	seen[version.Name] = true
	if served, ok := fields["served"]; !ok || !served.flag() {
		name.resourceName()
	}
	if storage, ok := fields["storage"]; ok {
		version.Storage = storage.flag()
	}
	if deprecated, ok := fields["deprecated"]; ok {
		version.Deprecated = deprecated.flag()
	}
	if warning, ok := fields["deprecationWarning"]; ok && !warning.isNull() {
		version.deprecation(warning)
	}
	if sub, ok := fields["subresources"]; ok {
		version.subresources(sub)
	}
	if columns, ok := fields["additionalPrinterColumns"]; ok {
		for _, column := range columns.list() {
			version.Columns = append(version.Columns, column.printerColumn())
		}
	}
	before := v.r.errors()
	schema, ok := v.need(fields, "schema")
	if !ok {
		return version
	}
	root, ok := schema.need(schema.object(), "openAPIV3Schema")
	if !ok {
		return version
	}
	version.Schema = root.schema(true)
	root.checkRoot(version)
	if v.r.errors() > before {
		return version
	}
	whole := *version.Schema
	whole.Embedded = true
	whole.checkDefaults()
	if selectable, ok := fields["selectableFields"]; ok {
		version.Selectable = selectable.selectableFields(version.Schema)
	}
	return version
}

// checkNames reports a name that no Go package can have.
func (v *Version) checkNames(name value) {
	if !versionName.MatchString(v.Name) || len(v.Name) > maxName || token.IsKeyword(v.Name) ||
		slices.Contains([]string{"internal", "main", "vendor", "testdata"}, v.Name) {
		name.errorf("%q can't be the name of a Go package; write its types by hand", v.Name)
	}
}

func (v *Version) deprecation(warning value) {
	v.Warning = warning.text()
	switch {
	case !v.Deprecated:
		warning.errorf("the version isn't deprecated; set deprecated: true, or leave this out")
	case v.Warning == "" || len(v.Warning) > 256 ||
		strings.ContainsFunc(v.Warning, func(r rune) bool { return !unicode.IsPrint(r) }):
		warning.errorf("no server accepts an empty warning, one of more than 256 bytes, or more than one line")
	}
}

// scalePath matches the paths of the subresource scale.
var scalePath = regexp.MustCompile(`^(\.[\w-]+)+$`)

func (v *Version) subresources(sub value) {
	subs := sub.object()
	sub.known(subs, []string{"status", "scale"}, nil)
	if status, ok := subs["status"]; ok && !status.isNull() {
		v.Status = true
		status.object()
	}
	scale, ok := subs["scale"]
	if !ok || scale.isNull() {
		return
	}
	v.Scale = &Scale{}
	paths := scale.object()
	scale.known(paths, []string{"specReplicasPath", "statusReplicasPath", "labelSelectorPath"}, nil)
	for _, p := range []struct {
		key   string
		to    *string
		below []string
	}{
		{"specReplicasPath", &v.Scale.Spec, []string{".spec."}},
		{"statusReplicasPath", &v.Scale.Status, []string{".status."}},
		{"labelSelectorPath", &v.Scale.Selector, []string{".spec.", ".status."}},
	} {
		path := paths[p.key]
		if len(p.below) == 1 {
			if path, ok = scale.need(paths, p.key); !ok {
				continue
			}
		} else if path.Node == nil || path.text() == "" {
			continue
		}
		before := path.r.errors()
		*p.to = path.text()
		if path.r.errors() == before && (!scalePath.MatchString(*p.to) ||
			!slices.ContainsFunc(p.below, func(prefix string) bool { return strings.HasPrefix(*p.to, prefix) })) {
			path.errorf("%q is no path below %s", *p.to, strings.Join(p.below, " or "))
		}
	}
}

// The types and formats of printer columns.
var (
	columnTypes   = []string{"boolean", "date", "integer", "number", "string"}
	columnFormats = []string{"byte", "date", "date-time", "double", "float", "int32", "int64", "password"}
)

// printerColumn reads a column that kubectl prints. The values are those of a marker.
func (v value) printerColumn() (args []Limit) {
	fields := v.object()
	v.known(fields, []string{"name", "type", "format", "description", "priority", "jsonPath"}, nil)
	for _, key := range []string{"name", "type", "jsonPath"} {
		if field, ok := v.need(fields, key); ok && field.empty() {
			field.errorf("is empty")
		}
	}
	for key, known := range map[string][]string{"type": columnTypes, "format": columnFormats} {
		if field := fields[key]; field.Node != nil && field.text() != "" {
			field.oneOf(known...)
		}
	}
	if description, ok := fields["description"]; ok {
		description.text()
	}
	if priority, ok := fields["priority"]; ok && !priority.isNull() {
		priority.integer()
	}
	for _, key := range []string{"name", "jsonPath"} {
		if field := fields[key]; field.Node != nil {
			if text := field.text(); key == "jsonPath" && text != "" && text[0] != '.' {
				field.errorf("%q doesn't begin with a dot", text)
			}
		}
	}
	for _, key := range []string{"name", "type", "jsonPath", "description", "format", "priority"} {
		if field := fields[key]; field.Node != nil && !field.empty() {
			args = append(args, Limit{strings.Replace(key, "jsonPath", "JSONPath", 1), field.jsonText()})
		}
	}
	return args
}

// maxSelectable is how many fields of a version servers can select by.
const maxSelectable = 8

// selectableFields checks the fields that clients can select objects by.
func (v value) selectableFields(schema *Schema) (paths []string) {
	seen := map[string]bool{}
	for _, item := range v.list() {
		fields := item.object()
		item.known(fields, []string{"jsonPath"}, nil)
		path, ok := item.need(fields, "jsonPath")
		if !ok {
			continue
		}
		before := v.r.errors()
		text := path.text()
		if v.r.errors() > before {
			continue
		}
		at := schema.at(text, false)
		switch {
		case at == nil:
			path.errorf("%q is no path to a field, such as .spec.kind", text)
		case strings.HasPrefix(text, ".metadata."):
			path.errorf("servers select by the fields of metadata without this; remove it")
		case !slices.Contains([]string{"string", "boolean", "integer"}, at.Type):
			path.errorf("servers select by strings, booleans and integers only")
		case seen[text]:
			path.errorf("given twice; remove one")
		}
		seen[text] = true
		paths = append(paths, text)
	}
	if len(seen) > maxSelectable {
		v.errorf("more than %d fields", maxSelectable)
	}
	return paths
}

// known warns of unknown fields, which servers ignore. A misspelt field of known is an error, as its
// content would be lost; one of minor isn't, as these don't affect types and values.
func (v value) known(fields map[string]value, known, minor []string) {
	for _, key := range sortedKeys(fields) {
		if slices.Contains(known, key) || slices.Contains(minor, key) {
			continue
		}
		suggestion := marker.Suggest(key, slices.Concat(known, minor))
		lost := suggestion != "" && suggestion == marker.Suggest(key, known)
		fields[key].report(!lost, "unknown field, which servers ignore%s", suggestion)
	}
}
