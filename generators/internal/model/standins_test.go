package model

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"
)

// TestStandIns checks the stand-ins against the types that they stand for, in the apimachinery of go.mod.
func TestStandIns(t *testing.T) {
	reader := func() *typeReader { return newTypeReader(newSession(t.Context(), Config{}).sources) }
	standIns, originals := reader(), reader()
	originals.need(slices.Collect(maps.Values(standInPaths))...)
	types := 0
	for path, p := range standIns.standIns {
		for name := range p.types {
			types++
			standIn, original := standIns.describe(TypeName{path, name}), originals.describe(TypeName{path, name})
			if !original.Pos.IsValid() {
				t.Errorf("%s has no type %s", path, name)
			}
			if got, want := essence(standIn), essence(original); !opaque(standIn) && !slices.Equal(got, want) {
				t.Errorf("%s.%s:\n%q, want\n%q", path, name, got, want)
			}
			for _, method := range standIn.Methods {
				if !slices.Contains(original.Methods, method) {
					t.Errorf("%s.%s has no method %s", path, name, method)
				}
			}
			encodes, _ := standIns.marshaler(TypeName{path, name})
			if want, _ := originals.marshaler(TypeName{path, name}); encodes != want {
				t.Errorf("%s.%s encodes itself with %q, want %q", path, name, encodes, want)
			}
			if standIn.SchemaType != original.SchemaType {
				t.Errorf("%s.%s is %q in OpenAPI, want %q", path, name, standIn.SchemaType, original.SchemaType)
			}
		}
	}
	if types < 20 {
		t.Errorf("%d types", types)
	}
}

// opaque reports whether a type is one that the generators don't look into.
func opaque(t *Type) bool {
	return t.Struct && len(t.Fields) == 0 || t.Underlying != nil && t.Underlying.Form == Literal
}

// essence is the part of a type that generators use.
func essence(t *Type) (lines []string) {
	expr := func(e *Expr) string {
		text, err := json.Marshal(e)
		if err != nil {
			panic(err) // nothing but text and further expressions
		}
		return string(text)
	}
	merging := func(comment []string) {
		for _, name := range []string{"listType", "listMapKey", "mapType", "structType", "default"} {
			for _, value := range Markers(comment, name) {
				// It changes nothing: a string that isn't omitted has this default without the marker, too.
				// apimachinery v0.38 has it for the message of a condition.
				if name != "default" || value != `""` {
					lines = append(lines, "+"+name+"="+value)
				}
			}
		}
	}
	lines = append(lines, expr(t.Underlying))
	merging(t.Lines)
	for _, f := range t.Fields {
		lines = append(lines, f.Name+" "+expr(f.Type)+" "+f.Tag.Get("json"))
		merging(f.Lines)
	}
	return lines
}
