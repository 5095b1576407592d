package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// typeWriter writes a package with a random kind. Most of what it writes is right; now and then it isn't.
type typeWriter struct {
	*rand.Rand
	b strings.Builder
	// types are the names of declared types by what they are: struct, string, int, list, map.
	types map[string][]string
	n     int
}

func (w *typeWriter) p(percent int) bool { return w.IntN(100) < percent }

func (w *typeWriter) pick(from ...string) string { return from[w.IntN(len(from))] }

func (w *typeWriter) line(format string, args ...any) { fmt.Fprintf(&w.b, format+"\n", args...) }

// randomPackage returns the source of the package named v<n> of a group.
func randomPackage(r *rand.Rand, group string) string {
	w := &typeWriter{Rand: r, types: map[string][]string{}}
	if w.p(30) {
		w.line("// Package v1 has types.\n// +kubebuilder:object:generate=true")
		if w.p(50) {
			w.line("// +kubebuilder:validation:%s", w.pick("Optional", "Required"))
		}
	} else if w.p(40) {
		w.line("// +groupName=%s\n", group)
		group = ""
	}
	if group != "" {
		w.line("// +groupName=%s", group)
	}
	if w.p(10) {
		w.line("// +versionName=%s", w.pick("v1beta1", "v2"))
	}
	w.line(`package v1

import (
	"encoding/json"
	"net"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
)

var _ = []any{json.RawMessage{}, net.IP{}, time.Second, corev1.Pod{}, resource.Quantity{}, metav1.Now(),
	runtime.RawExtension{}, intstr.IntOrString{}}
`)
	for range 2 + w.IntN(8) {
		w.declare()
	}
	w.kind()
	return w.b.String()
}

// doc writes a comment with a description and markers.
func (w *typeWriter) doc(indent string, markers []string) {
	var lines []string
	for range w.IntN(4) {
		lines = append(lines, w.pick("It is a value.", "TODO: more", "---", "",
			"  indented `code` here", "```",
			"some: yaml # here", "- a list", "it's \"quoted\"",
			"a very long line of text that goes on and on so that "+
				"it has to be folded somewhere, which is what YAML does at eighty columns",
			"Deprecated: no.", "@x",
			"x\ty", "#hash", "true", "12", "ümlaut é", "trailing: ", "go:build x"))
	}
	for _, m := range markers {
		at := w.IntN(len(lines) + 1)
		lines = append(lines[:at], append([]string{"+" + m}, lines[at:]...)...)
	}
	block := len(markers) == 0 && w.p(10)
	if block {
		w.line("%s/*", indent)
	}
	for i, line := range lines {
		switch {
		case block:
			w.line("%s  %s", indent, strings.ReplaceAll(line, "*/", ""))
		case line == "" && w.p(50) && i > 0: // a comment of its own
			w.line("")
		default:
			w.line("%s// %s", indent, line)
		}
	}
	if block {
		w.line("%s*/", indent)
	}
	if w.p(8) {
		w.line("")
	}
}

// basics are the types that have a schema of their own.
var basics = map[string][]string{
	"string": {"string", "metav1.Duration", "metav1.Time", "net.IP", "[]byte"},
	"int":    {"int", "int32", "int64", "uint8", "time.Duration", "rune", "byte"},
	"bool":   {"bool"},
	"other": {"intstr.IntOrString", "resource.Quantity", "runtime.RawExtension",
		"corev1.LocalObjectReference",
		"metav1.Condition", "corev1.PullPolicy", "metav1.ObjectMeta", "json.RawMessage",
		"corev1.ResourceList",
		"metav1.LabelSelector", "corev1.SecretKeySelector", "metav1.MicroTime"},
}

// expr returns a type expression, and what it is.
func (w *typeWriter) expr(depth int) (expr, what string) {
	switch n := w.IntN(20); {
	case n < 3:
		expr, what = w.pick(basics["string"]...), "string"
	case n < 6:
		expr, what = w.pick(basics["int"]...), "int"
	case n < 7:
		expr, what = "bool", "bool"
	case n < 9:
		expr, what = w.pick(basics["other"]...), "other"
		if w.p(3) {
			expr = w.pick("float64", "any")
		}
	case n < 12 && depth > 0:
		inner, _ := w.expr(depth - 1)
		expr, what = w.pick("[]", "[]", "[]", "[]*", "[2]")+inner, "list"
	case n < 14 && depth > 0:
		inner, _ := w.expr(depth - 1)
		key := "string"
		if names := w.types["string"]; len(names) > 0 && w.p(30) {
			key = w.pick(names...)
		}
		expr, what = "map["+key+"]"+inner, "map"
	default:
		what = w.pick("struct", "struct", "string", "int", "list", "map", "alias")
		if len(w.types[what]) == 0 {
			return "string", "string"
		}
		expr = w.pick(w.types[what]...)
	}
	if w.p(15) && expr != "any" {
		expr = "*" + expr
	}
	return expr, what
}

// declare declares a type.
func (w *typeWriter) declare() {
	w.n++
	name := fmt.Sprintf("T%d", w.n)
	what := w.pick("struct", "struct", "struct", "string", "string", "int", "list", "map",
		"alias", "other")
	switch what {
	case "struct":
		w.structType(name, false)
	case "string":
		if w.p(25) {
			w.doc("", []string{"k8s:enum"})
			w.line("type %s string\n\nconst (\n\t%sA %s = \"a\"\n\t%sB %s = \"B\"\n\t%sC = \"c\"\n)\n", name,
				name, name, name, name, name)
			break
		}
		w.doc("", w.markers("string", false))
		w.line("type %s string\n", name)
		if w.p(10) {
			w.line("func (t %s) MarshalText() ([]byte, error) { return nil, nil }\n", name)
		}
	case "int":
		w.doc("", w.markers("int", false))
		w.line("type %s %s\n", name, w.pick("int", "int32", "int64"))
	case "list":
		inner, _ := w.expr(1)
		w.doc("", w.markers("list", false))
		w.line("type %s []%s\n", name, inner)
	case "map":
		inner, _ := w.expr(1)
		w.doc("", w.markers("map", false))
		w.line("type %s map[string]%s\n", name, inner)
	case "alias":
		of := w.pick("string", "metav1.Time", "int32")
		if names := w.types["struct"]; len(names) > 0 && w.p(50) {
			of = w.pick(names...)
		}
		w.doc("", w.markers("", false))
		w.line("type %s = %s\n", name, of)
	case "other":
		of := w.pick("metav1.Time", "resource.Quantity", "intstr.IntOrString",
			"corev1.LocalObjectReference", "string")
		for _, names := range w.types {
			if len(names) > 0 && w.p(30) {
				of = w.pick(names...)
				break
			}
		}
		w.doc("", w.markers("", false))
		w.line("type %s %s\n", name, of)
		what = "struct"
	}
	w.types[what] = append(w.types[what], name)
	if w.p(10) {
		w.line("// a comment of its own\n// +kubebuilder:validation:%s\n", w.pick("Optional",
			"Required", "MaxLength=3"))
	}
	if w.p(10) {
		w.line("// x is a variable.\n// +kubebuilder:validation:MaxLength=1\nvar x%d = 1 // +optional\n", w.n)
	}
}

// structType declares a struct. Those that are kinds have metadata.
func (w *typeWriter) structType(name string, kind bool) {
	n := w.IntN(6)
	var markers []string
	if !kind || w.p(50) {
		markers = w.markers("struct", false)
	}
	if w.p(10) && n > 1 {
		markers = append(markers, "kubebuilder:validation:"+w.pick("ExactlyOneOf", "AtMostOneOf",
			"AtLeastOneOf")+"=f0;f1")
	}
	if kind {
		markers = append(markers, w.kindMarkers()...)
	}
	w.doc("", markers)
	w.line("type %s struct {", name)
	if kind {
		w.line("\tmetav1.TypeMeta `json:\",inline\"`\n\tmetav1.ObjectMeta `json:\"metadata,omitempty\"`\n")
	}
	if names := w.types["struct"]; len(names) > 0 && w.p(20) {
		w.line("\t%s `json:\",inline\"`", w.pick(names...))
	}
	for i := range n {
		expr, what := w.expr(2)
		w.doc("\t", w.markers(what, true))
		options := w.pick("", ",omitempty", ",omitempty", ",omitzero")
		key := fmt.Sprintf("f%d", i)
		if w.p(5) {
			key = w.pick("f10", "on", "x-y", "null", "12", "a.b", "-,")
		}
		tag := fmt.Sprintf(" `json:\"%s%s\"`", key, options)
		if w.p(1) {
			tag = ""
		}
		comment := ""
		if w.p(5) {
			comment = " // +optional"
		}
		w.line("\tF%d %s%s%s", i, expr, tag, comment)
	}
	w.line("}\n")
}

// markers returns random markers for a type or for a field.
func (w *typeWriter) markers(what string, field bool) []string {
	number := func() string {
		return w.pick("0", "1", "5", "-3", "1.5", "100", "1e3",
			"9007199254740993")
	}
	count := func() string { return w.pick("0", "1", "5", "64") }
	fitting := map[string][]string{
		"string": {"MaxLength=" + count(), "MinLength=" + count(), "Pattern=`^[a-z]*$`",
			"Enum=a;b;\"c d\"", "Format=uuid",
			"Pattern=\"^\\\\d+$\""},
		"int": {"Maximum=" + number(), "Minimum=" + number(), "MultipleOf=2",
			"ExclusiveMaximum=true", "Enum=1;2;5",
			"ExclusiveMinimum=" + w.pick("true", "false")},
		"list": {"MaxItems=" + count(), "MinItems=" + count(), "items:MaxLength=4",
			"items:Pattern=`a`", "items:Enum=a;b",
			"UniqueItems=false", "items:XValidation:rule=\"self != ''\""},
		"map":    {"MaxProperties=" + count(), "MinProperties=" + count()},
		"struct": {"MinProperties=" + count(), "MaxProperties=" + count()},
		"bool":   {"Enum=true"},
		"other":  {"XIntOrString", "XPreserveUnknownFields"},
	}
	anywhere := []string{"kubebuilder:validation:XValidation:rule=\"self == oldSelf\",message=\"no: 'change'\"",
		"kubebuilder:validation:XValidation:rule=`has(self.x)`,reason=FieldValueInvalid,fieldPath=\".x\"",
		"kubebuilder:title=" + w.pick("x", "\"a title\""), "kubebuilder:pruning:PreserveUnknownFields",
		"kubebuilder:externalDocs:url=\"https://x.example\",description=d",
		"kubebuilder:validation:XValidation:rule=\"true\",optionalOldSelf=true,messageExpression=\"'x'\"",
		"kubebuilder:validation:XValidation:rule=x"}
	if w.p(2) {
		anywhere = []string{"kubebuilder:validation:Type=" + w.pick("string", "object", "integer")}
	}
	onField := []string{"optional", "required", "k8s:required", "k8s:optional", "nullable",
		"k8s:immutable",
		"kubebuilder:validation:Optional", "kubebuilder:validation:Required",
		"kubebuilder:default=" + w.pick("x", "1",
			"true", "{}", "{a: 1}", "{1,2}", "a;b", "\"q\"", "{a: {b: c}, d: {x,y}}", "1.5",
			"1.0", "-2", "9007199254740993"),
		"default=" + w.pick("1", "\"x\"", "{}", "[1, 2]", "true", "{\"a\": 1.50}", "ref(X)", "1e30"),
		"kubebuilder:example=" + w.pick("x", "1", "{a: 1}"), "k8s:maximum=" + number() +
			w.pick("", " # why"),
		"k8s:minimum=" + number(), "k8s:maxItems=5", "kubebuilder:validation:EmbeddedResource",
		"kubebuilder:validation:Schemaless"}
	topology := map[string][]string{"list": {"listType=atomic", "listType=set", "k8s:listType=atomic"},
		"map": {"mapType=atomic", "mapType=granular"}, "struct": {"structType=atomic"}}
	var markers []string
	if field && (what == "struct" || what == "other") && w.p(90) {
		what = "" // the type of a field is known only if it isn't that of another type
	}
	for range w.IntN(3) {
		if from := fitting[what]; len(from) > 0 {
			markers = append(markers, "kubebuilder:validation:"+w.pick(from...))
		}
	}
	if w.p(20) && len(topology[what]) > 0 {
		markers = append(markers, w.pick(topology[what]...))
	}
	if w.p(12) {
		markers = append(markers, w.pick(anywhere...))
	}
	if w.p(50) && field {
		markers = append(markers, w.pick(onField...))
	}
	if w.p(1) { // wrong, most of the time
		markers = append(markers, w.pick("kubebuilder:validation:MaxLength=x",
			"kubebuilder:validation:Minimum=",
			"kubebuilder:validation:MaxItems=3", "listType=map", "listMapKey=f0", "k8s:enum",
			"structType=x", "nullable=1",
			"kubebuilder:validation:Optional", "kubebuilder:default=",
			"kubebuilder:validation:XValidation:rul=x"))
	}
	return withoutRandom(markers)
}

// withoutRandom leaves out the markers of Kubernetes beside which another one is, so that controller-gen's
// result would be random.
func withoutRandom(markers []string) []string {
	all := strings.Join(markers, "\n")
	return slices.DeleteFunc(markers, func(m string) bool {
		name, _, _ := strings.Cut(strings.TrimPrefix(m, "k8s:"), "=")
		same := strings.ToUpper(name[:1]) + name[1:] + "="
		switch {
		case strings.Contains(name, "istType"):
			return strings.Contains(all, ":Type=") || strings.Count(all, "istType=") > 1
		case !strings.HasPrefix(m, "k8s:"):
			return false
		}
		return strings.Contains(all, "validation:"+same) ||
			name == "immutable" && strings.Contains(all, "XValidation")
	})
}

// kindMarkers returns random markers of a kind.
func (w *typeWriter) kindMarkers() []string {
	var markers []string
	all := []string{"kubebuilder:object:root=true", "kubebuilder:subresource:status",
		"kubebuilder:storageversion",
		"kubebuilder:subresource:scale:specpath=.spec.x,statuspath=.status.x" + w.pick("",
			",selectorpath=.status.y"),
		"kubebuilder:printcolumn:name=Age,type=date,JSONPath=`.metadata.creationTimestamp`,priority=" +
			w.pick("0", "1"),
		"kubebuilder:printcolumn:name=\"B b\",type=string,JSONPath=.spec.x,description=\"x: y\",format=date",
		"kubebuilder:resource:path=" + w.pick("things", "widgets") + ",shortName=" + w.pick("t",
			"t;u") + ",scope=" +
			w.pick("Cluster", "Namespaced"), "kubebuilder:resource:categories={all,x},singular=thing",
		"kubebuilder:deprecatedversion" + w.pick("", ":warning=\"old\""),
		"kubebuilder:selectablefield:JSONPath=.spec.x",
		"kubebuilder:metadata:annotations=\"a.b/c=d=e\"",
		"kubebuilder:metadata:annotations={\"x=1\",\"y=true\"}"}
	for range w.IntN(4) {
		markers = append(markers, w.pick(all...))
	}
	return markers
}

// kind declares the kind.
func (w *typeWriter) kind() {
	w.structType(w.pick("Index", "Widget", "Proof", "Chef", "PodInfo", "Hero", "Analysis",
		"Series", "Data", "DNS",
		"Policy", "Gateway", "Box", "Quiz", "Status", "Mouse", "Config2"), true)
}
