package generators_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// defaultedField is a field for random APIs with a +default marker, or of a type that has defaults.
type defaultedField struct{ marker, name, typ string }

var defaultedFields = []defaultedField{
	{`"x"`, "Text", "string"},
	{`""`, "Empty", "string"},
	{`"x"`, "TextPointer", "*string"},
	{"3", "Number", "int32"},
	{"1E2", "Float", "float64"},
	{"-3", "NumberPointer", "**int64"},
	{"true", "Switch", "*bool"},
	{"ref(BestName)", "Named", "DefaultedName"},
	{"ref(BestName)", "NamedPointer", "**DefaultedName"},
	{"ref(BestName)", "Converted", "*string"},
	{`["x"]`, "List", "[]string"},
	{`{"x": "y"}`, "Map", "map[string]string"},
	{`{"text": "y"}`, "Decoded", "*DefaultedPart"},
	{"", "Name", "*DefaultedName"},
	{"", "Names", "[]DefaultedName"},
	{"", "NameMap", "map[string]DefaultedName"},
	{"", "Pointed", "DefaultedPointer"},
	{"", "Part", "DefaultedPart"},
	{"", "Parts", "[]DefaultedPart"},
	{"", "PartPointers", "[]*DefaultedPart"},
	{"", "PartMap", "map[string]DefaultedPart"},
	{"", "PartPair", "[2]DefaultedName"},
	{"", "Nested", "DefaultedParts"},
	{"", "Lists", "[]DefaultedParts"}, // the defaults in it can't be set
	{"1", "Wrong", "string"},
}

// defaultedTypes are the types of these fields.
const defaultedTypes = `
// +default=ref(BestName)
type DefaultedName string

const BestName DefaultedName = "best"

type DefaultedPointer *DefaultedName

type DefaultedParts []DefaultedPart

// DefaultedPart refers to itself.
type DefaultedPart struct {
	// +default="part"
	Text string          ` + "`json:\"text\"`" + `
	Next *DefaultedPart  ` + "`json:\"next\"`" + `
	More []DefaultedPart ` + "`json:\"more\"`" + `
}
`

// randomSpec returns a type KINDSpec with random fields, and random functions for it and for KIND.
func randomSpec(r *rand.Rand, kind string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\ntype %sSpec struct {\n", kind)
	for _, f := range defaultedFields {
		if r.IntN(3) > 0 || f.name == "Lists" && r.IntN(5) > 0 || f.name == "Wrong" && r.IntN(9) > 0 {
			continue
		}
		if f.marker != "" {
			fmt.Fprintf(&b, "\t// +default=%s\n", f.marker)
		}
		fmt.Fprintf(&b, "\t%s %s `json:\"%s\"`\n", f.name, f.typ, strings.ToLower(f.name[:1])+f.name[1:])
	}
	b.WriteString("}\n")
	for _, function := range []string{"SetDefaults_%s(in *%[1]s)", "SetDefaults_%s_More(in *%[1]s)",
		"SetDefaults_%sSpec(in *%[1]sSpec)", "SetObjectDefaults_%s(in *%[1]s)"} {
		switch r.IntN(6) {
		case 0:
			fmt.Fprintf(&b, "\nfunc "+function+" {}\n", kind)
		case 1:
			fmt.Fprintf(&b, "\n// +k8s:defaulter-gen=covers\nfunc "+function+" {}\n", kind)
		}
	}
	return b.String()
}
