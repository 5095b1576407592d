package crd

import (
	"encoding/json"
	"fmt"
	"go/token"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// limitMarkers are the names of markers by keyword, without +kubebuilder:validation.
var limitMarkers = map[string]string{"minimum": "Minimum", "exclusiveMinimum": "ExclusiveMinimum",
	"maximum": "Maximum", "exclusiveMaximum": "ExclusiveMaximum", "multipleOf": "MultipleOf",
	"minLength": "MinLength", "maxLength": "MaxLength", "pattern": "Pattern", "minItems": "MinItems",
	"maxItems": "MaxItems", "uniqueItems": "UniqueItems", "minProperties": "MinProperties",
	"maxProperties": "MaxProperties"}

// markers are the markers of a field of that type: those of its schema, and those of its items. The values of
// a map have none, as there is no marker for them.
func (s *Schema) markers(required bool, typ string) []string {
	markers := []string{"+optional"}
	if required {
		markers = []string{"+required"}
	}
	if s.Nullable {
		markers = append(markers, "+nullable")
	}
	if s.Default != "" && s.Default != "null" {
		markers = append(markers, "+default="+s.Default)
	}
	if s.ListType != "" {
		markers = append(markers, "+listType="+s.ListType)
	}
	for _, key := range s.ListKeys {
		if validTag(key) { // otherwise the items have no fields
			markers = append(markers, "+listMapKey="+key)
		}
	}
	if s.MapType != "" && (s.Values != nil || s.AnyValues) { // that of a struct is its type's
		markers = append(markers, "+mapType="+s.MapType)
	}
	if s.Type == "" && !s.IntOrString { // any value, not just an object
		markers = append(markers, "+kubebuilder:validation:Schemaless")
	}
	if s.PreserveUnknown || strings.TrimPrefix(typ, "*") == goType(rawType) {
		markers = append(markers, "+kubebuilder:pruning:PreserveUnknownFields")
	}
	if s.Embedded {
		markers = append(markers, "+kubebuilder:validation:EmbeddedResource")
	}
	markers = append(markers, s.validation("+kubebuilder:validation:", typ)...)
	if items, ok := strings.CutPrefix(typ, "[]"); ok && s.Items != nil {
		markers = append(markers, s.Items.validation("+kubebuilder:validation:items:", items)...)
	}
	return markers
}

// structType stands for the type of a struct's declaration.
const structType = "struct"

// impliedFormats are the formats that follow from a type. Types of Kubernetes have their own.
var impliedFormats = map[string]string{"int32": "int32", "int64": "int64", "[]byte": "byte"}

// validation are the markers of a schema that limit its values, which have that type.
func (s *Schema) validation(prefix, typ string) []string {
	typ = strings.TrimPrefix(typ, "*")
	predeclared := slices.Contains([]string{"string", "bool", "int32", "int64", "float64", structType}, typ)
	if token.IsIdentifier(typ) && !predeclared {
		return nil // a declared type has them in its own comment
	}
	var markers []string
	if len(s.Enum) > 0 {
		markers = append(markers, prefix+"Enum="+enumMarker(s.Enum))
	}
	var limits []Limit
	switch {
	case predeclared || nilable(typ):
		limits = s.Limits
		// Servers ignore formats that they don't know.
		if s.Format != impliedFormats[typ] && plainValue.MatchString(s.Format) {
			markers = append(markers, prefix+"Format="+s.Format)
		}
	case typ == goType(intstrType): // other types of Kubernetes have their own formats and limits
		for _, limit := range s.Limits {
			if limitTypes[limit.Keyword][0] == "string" {
				limits = append(limits, limit)
			}
		}
		if len(limits) > 0 { // which allows them
			markers = append(markers, prefix+"XIntOrString")
		}
	}
	for _, limit := range limits {
		text := limit.Value
		if limit.Keyword == "pattern" {
			text = markerString(text)
		}
		markers = append(markers, prefix+limitMarkers[limit.Keyword]+"="+text)
	}
	for _, rule := range s.Rules {
		var fields []string
		for _, field := range rule {
			fields = append(fields, field.Keyword+"="+field.Value)
		}
		markers = append(markers, prefix+"XValidation:"+strings.Join(fields, ","))
	}
	return markers
}

// plainValue matches the strings that a marker needs no quotes for.
var plainValue = regexp.MustCompile(`^[A-Za-z][\w-]*$`)

// enumMarker returns the values of an enumeration in the form of a marker.
func enumMarker(enum []any) string {
	values := make([]string, len(enum))
	for i, v := range enum {
		values[i] = jsonOf(v)
		if s, ok := v.(string); ok && plainValue.MatchString(s) && s != "true" && s != "false" {
			values[i] = s
		}
	}
	return strings.Join(values, ";")
}

// markerString returns a JSON string for a marker, in backquotes if possible: patterns are full of
// backslashes.
func markerString(text string) string {
	var s string
	if json.Unmarshal([]byte(text), &s) != nil || s == "" || strings.Contains(s, "`") ||
		strings.Contains(s, "''") || strings.ContainsFunc(s, unicode.IsControl) {
		return text
	}
	return "`" + s + "`"
}

// kindMarkers are the markers of a kind.
func kindMarkers(d *Definition, v *Version, resource string, hasStatus bool) []string {
	markers := []string{"+genclient"}
	scope := "Namespaced"
	if !d.Namespaced {
		scope = "Cluster"
		markers = append(markers, "+genclient:nonNamespaced")
	}
	if hasStatus && !v.Status {
		markers = append(markers, "+genclient:noStatus")
	}
	if v.Scale != nil {
		const scale = "k8s.io/api/autoscaling/v1.Scale"
		markers = append(markers, "+genclient:method=GetScale,verb=get,subresource=scale,result="+scale,
			"+genclient:method=UpdateScale,verb=update,subresource=scale,input="+scale+",result="+scale)
	}
	if resource != d.Plural {
		markers = append(markers, "+resourceName="+d.Plural)
	}
	path := "+kubebuilder:resource:path=" + d.Plural + ",scope=" + scope
	if d.Singular != "" {
		path += ",singular=" + d.Singular
	}
	if len(d.ShortNames) > 0 {
		path += ",shortName=" + strings.Join(d.ShortNames, ";")
	}
	if len(d.Categories) > 0 {
		path += ",categories=" + strings.Join(d.Categories, ";")
	}
	markers = append(markers, path)
	if d.Approval != "" {
		markers = append(markers, "+kubebuilder:metadata:annotations="+jsonOf(approvalAnnotation+"="+d.Approval))
	}
	if v.Status {
		markers = append(markers, "+kubebuilder:subresource:status")
	}
	if v.Scale != nil {
		text := fmt.Sprintf("+kubebuilder:subresource:scale:specpath=%s,statuspath=%s", v.Scale.Spec,
			v.Scale.Status)
		if v.Scale.Selector != "" {
			text += ",selectorpath=" + v.Scale.Selector
		}
		markers = append(markers, text)
	}
	if v.Storage {
		markers = append(markers, "+kubebuilder:storageversion")
	}
	if v.Deprecated {
		text := "+kubebuilder:deprecatedversion"
		if v.Warning != "" {
			text += ":warning=" + jsonOf(v.Warning)
		}
		markers = append(markers, text)
	}
	for _, column := range v.Columns {
		var args []string
		for _, arg := range column {
			if arg.Keyword == "JSONPath" {
				arg.Value = markerString(arg.Value)
			}
			args = append(args, arg.Keyword+"="+arg.Value)
		}
		markers = append(markers, "+kubebuilder:printcolumn:"+strings.Join(args, ","))
	}
	for _, path := range v.Selectable {
		markers = append(markers, "+kubebuilder:selectablefield:JSONPath="+markerString(jsonOf(path)))
	}
	if v.Schema.PreserveUnknown {
		markers = append(markers, "+kubebuilder:pruning:PreserveUnknownFields")
	}
	markers = append(markers, v.Schema.validation("+kubebuilder:validation:", structType)...)
	return append(markers, "+k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object")
}
