package main

import (
	"encoding/json"
	"flag"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	crdmarkers "sigs.k8s.io/controller-tools/pkg/crd/markers"
	"sigs.k8s.io/controller-tools/pkg/markers"

	"github.com/kubewright/kubewright/generators/internal/marker"
)

var (
	markerCount = flag.Int("markers", 100000, "how many random markers are compared")
	seedFlag    = flag.Uint64("seed", 0, "the seed of random input, 0 for a random one")
)

// seed returns the seed of a test, and prints it.
func seed(t *testing.T) uint64 {
	s := *seedFlag
	if s == 0 {
		s = rand.Uint64()
	}
	t.Logf("-seed %d", s)
	return s
}

// targets are the targets of markers, ours and controller-tools'.
var targets = map[marker.Target]markers.TargetType{marker.OnPackage: markers.DescribesPackage,
	marker.OnType: markers.DescribesType, marker.OnField: markers.DescribesField}

// registry has the markers that controller-gen reads for definitions.
func registry(t *testing.T) *markers.Registry {
	reg := &markers.Registry{}
	if err := crdmarkers.Register(reg); err != nil {
		t.Fatal(err)
	}
	return reg
}

// pieces are what random values are made of.
var pieces = []string{"a", "b", "true", "false", "t", "f", "1", "-1", "0", "08", "0x1f", "1.5",
	"1e3", "-", "5m", "100Mi", "2024-01-15", " ", "  ", "\t", ",", ",", ";", ";", "{", "}", "{}",
	"[", "]", ":", "=", "\"", "\"x\"", "\"a,b\"", "\"a;b\"", "\"\\\"\"", "\"\\d\"", "`r`",
	"`a\\d+`", "`", "'", "'q'", "#", " # c", "a: 1", "{a: 1}", "{1,2}", "{{1},{2}}",
	"{\"a\":{b:c}}", "ref(x)", "/", "//", "/*", "é", "name=", "rule=", "message=", "path=",
	"shortName=", "optionalOldSelf=true", "priority=1", "null", "x.y", "_", "1_000", "0b1", "'a'",
	"\\", "\"\"", "1 ", " 1", "a b", "(", ")", "*", "self.x > 1", "Infinity", "nan", "1,", ",2",
	";3", "{\"a\": 1, \"b\": 2}"}

// randomMarker returns a marker without its plus sign.
func randomMarker(r *rand.Rand, names []string) string {
	text := names[r.IntN(len(names))]
	switch r.IntN(12) {
	case 0:
		text += ":" + pieces[r.IntN(len(pieces))]
	case 1:
		text += ":"
	case 2:
		return text
	}
	arguments := []string{"rule", "message", "name", "type", "JSONPath", "path", "shortName", "categories",
		"scope", "warning", "annotations", "labels", "url", "description", "priority", "specpath", "statuspath",
		"selectorpath", "optionalOldSelf", "x", "format", "singular", "reason"}
	value := func() string {
		s := ""
		for range r.IntN(6) {
			s += pieces[r.IntN(len(pieces))]
		}
		return s
	}
	if r.IntN(2) == 0 {
		var args []string
		for range r.IntN(4) {
			args = append(args, arguments[r.IntN(len(arguments))]+"="+value())
		}
		return strings.TrimSpace(text + ":" + strings.Join(args, ","))
	}
	return strings.TrimSpace(text + "=" + value())
}

// TestMarkers compares random markers: which definition they are of, whether they have an error, and their
// values.
func TestMarkers(t *testing.T) {
	reg := registry(t)
	var names []string
	for _, def := range reg.AllDefinitions() {
		names = append(names, def.Name)
	}
	names = append(names, "kubebuilder:unknown", "kubebuilder", "k8s:maxLength", "genclient")
	r := rand.New(rand.NewPCG(seed(t), 1))
	valid := 0
	for range *markerCount {
		text := randomMarker(r, names)
		for ours, theirs := range targets {
			if compareMarker(t, reg, text, ours, theirs) {
				valid++
			}
		}
		if t.Failed() {
			return
		}
	}
	t.Logf("%d markers, of which %d are valid somewhere", *markerCount, valid)
	if valid < *markerCount/10 {
		t.Error("too few of the markers are valid")
	}
}

// compareMarker reports whether a marker is valid.
func compareMarker(t *testing.T, reg *markers.Registry, text string, ours marker.Target,
	theirs markers.TargetType) bool {
	t.Helper()
	name := marker.LookupCRD(text, ours)
	def := reg.Lookup("+"+text, theirs)
	if def == nil || name == "" {
		if (def == nil) != (name == "") {
			t.Errorf("%q on a %v: we find %q, controller-tools %v", text, theirs, name, def)
		}
		return false
	}
	got, offset, err := marker.ParseCRD(name, text)
	want, wantErr := def.Parse("+" + text)
	switch {
	case name != def.Name:
		t.Errorf("%q is %s, not %s", text, name, def.Name)
	case (err == nil) != (wantErr == nil):
		t.Errorf("%q has the error %v, with controller-tools %v", text, err, wantErr)
	case err != nil && (offset < 0 || offset > len(text)):
		t.Errorf("%q has its error at %d", text, offset)
	case err == nil:
		if g, w := jsonText(got.Value), jsonText(theirValue(def, want, got.Args)); g != w && got.Args == nil {
			t.Errorf("%q is %s, not %s", text, g, w)
		} else if w := jsonText(want); got.Args != nil && theirArgs(def, want, got.Args) != "" {
			t.Errorf("%q is %s, not %s: %s", text, jsonText(got.Args), w, theirArgs(def, want, got.Args))
		}
		return true
	}
	return false
}

// theirValue is the value of a marker without arguments.
func theirValue(def *markers.Definition, want any, args map[string]any) any {
	switch {
	case args != nil || def.Empty():
		return nil
	case reflect.TypeOf(want).Kind() == reflect.Struct:
		return reflect.ValueOf(want).FieldByName("Value").Interface()
	}
	return want
}

// theirArgs says which argument differs, "" if none does. One that isn't given is zero.
func theirArgs(def *markers.Definition, want any, args map[string]any) string {
	for arg, field := range def.FieldNames {
		value := reflect.ValueOf(want).FieldByName(field)
		given, ok := args[arg]
		if !ok && !value.IsZero() || ok && jsonText(given) != jsonText(value.Interface()) {
			return arg
		}
	}
	return ""
}

// jsonText is a value as JSON, in which empty lists are as good as none.
func jsonText(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return strings.ReplaceAll(string(text), "null", "[]")
}
