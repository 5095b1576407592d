package generators_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"unicode/utf8"
)

// part is a type of an API package that kinds share.
type part struct {
	name string
	// copied is true for types that have deep copies, embeddable for structs that no other one embeds yet;
	// key is the JSON key of a field that identifies an item of a list.
	copied, embeddable bool
	key                string
	// inlined is how many structs are inlined in each other in it.
	inlined int
}

// maxInlined is the greatest depth of inlined structs. With one more, structured-merge-diff, and so the
// managed fakes of client-go as well, confuses their fields.
const maxInlined = 2

// parts are the random types of an API package.
type parts struct {
	*rand.Rand
	all    []part
	source strings.Builder
	names  map[string]int
}

// fieldNames are names of fields, those of real APIs and odd ones.
var fieldNames = []string{"Replicas", "Template", "Selector", "Name", "Value", "Type", "Func", "Map", "Range",
	"Default", "Ref", "URL", "URLs", "HTTPGet", "Items", "List", "Error", "String", "Foo_Bar", "X1", "With",
	"ID", "Object", "Options", "Labels", "Time", "Schema", "V1", "Struct", "B", "Æther"}

// oddNames are names of fields that collide with methods of generated code, of some types.
var oddNames = []string{"GetName", "GetKind", "GetNamespace", "GetAPIVersion", "IsApplyConfiguration",
	"DeepCopy", "DeepCopyInto", "DeepCopyObject", "WithName", "WithReplicas", "WithTemplate", "GetObjectKind",
	"SetName", "MarshalJSON", "Freeze", "ObjectMetaApplyConfiguration"}

// scalars are types of fields without parts.
var scalars = []string{"string", "int32", "int64", "bool", "float64", "uint8", "[]byte", "*string", "*int32",
	"*int64", "*bool", "[]string", "[]int64", "map[string]string", "map[string]bool", "[][]string",
	"map[string][]string", "map[string][]byte"}

// foreign are types of other packages.
var foreign = []string{"metav1.Time", "*metav1.Time", "metav1.MicroTime", "metav1.Duration",
	"*metav1.Duration", "resource.Quantity", "*resource.Quantity", "map[string]resource.Quantity",
	"intstr.IntOrString",
	"*intstr.IntOrString", "metav1.LabelSelector", "*metav1.LabelSelector", "[]metav1.Condition",
	"metav1.GroupKind", "types.UID", "types.NamespacedName", "runtime.RawExtension", "*runtime.RawExtension",
	"[]metav1.OwnerReference", "corev1.LocalObjectReference", "*corev1.ObjectReference", "[]corev1.EnvVar",
	"corev1.ResourceList", "corev1.PodPhase", "map[corev1.ResourceName]string", "corev1.ResourceRequirements",
	"[]corev1.Toleration", "*corev1.PodTemplateSpec"}

// newParts returns up to eight random types.
func newParts(r *rand.Rand) *parts {
	p := &parts{Rand: r, names: map[string]int{}}
	for i := range r.IntN(9) {
		p.add(fmt.Sprintf("Part%d", i))
	}
	return p
}

// add declares a type.
func (p *parts) add(name string) {
	t := part{name: name, copied: true}
	p.source.WriteString("\n")
	switch p.IntN(12) {
	case 0, 1:
		t.copied = false
		fmt.Fprintf(&p.source, "type %s %s\n", name,
			pick(p.Rand, []string{"string", "string", "int32", "bool"}))
	case 2:
		t.copied = false
		// client-go's field management knows no pointers to pointers.
		fmt.Fprintf(&p.source, "type %s = %s\n", name, strings.TrimLeft(p.fieldType(2), "*"))
	case 3:
		fmt.Fprintf(&p.source, "type %s []%s\n", name, p.fieldType(1))
	case 4:
		fmt.Fprintf(&p.source, "type %s map[string]%s\n", name, p.fieldType(1))
	case 5:
		form := pick(p.Rand, selfEncoded)
		t.copied = strings.Contains(form.source, " struct")
		p.source.WriteString(strings.ReplaceAll(form.source, "PART", name))
		if p.IntN(3) == 0 {
			fmt.Fprintf(&p.source, openAPIMethods, name, form.openAPI)
		}
	default:
		fields, inlined := p.fields(1 + p.IntN(5))
		t.embeddable, t.inlined = inlined < maxInlined, inlined
		if p.IntN(3) == 0 {
			t.key = "key" + strings.ToLower(name)
			fields += fmt.Sprintf("\tKey%s string `json:\"%s\"`\n", name, t.key)
		}
		// It may refer to itself.
		if p.IntN(5) == 0 {
			fields += fmt.Sprintf("\tNext%s %s `json:\"next%[1]s,omitempty\"`\n", name,
				pick(p.Rand, []string{"*", "[]", "map[string]", "[]*"})+name)
		}
		fmt.Fprintf(&p.source, "type %s struct {\n%s}\n", name, fields)
	}
	p.all = append(p.all, t)
}

// fields returns the fields of a struct, and how many structs are inlined in each other in it. No two structs
// of a package have fields of the same name, as promoted fields would collide.
func (p *parts) fields(n int) (fields string, inlined int) {
	var b strings.Builder
	for range n {
		if i := p.IntN(len(p.all) + 4); i < len(p.all) && p.all[i].embeddable {
			p.all[i].embeddable, p.all[i].key = false, "" // a key must be in the struct itself
			inlined = max(inlined, p.all[i].inlined+1)
			fmt.Fprintf(&b, "\t%s%s%s\n", pick(p.Rand, []string{"", "", "*"}), p.all[i].name,
				pick(p.Rand, []string{" `json:\",inline\"`", " `json:\",inline\"`",
					fmt.Sprintf(" `json:\"%s\"`", strings.ToLower(p.all[i].name))}))
			continue
		}
		b.WriteString(p.field())
	}
	return b.String(), inlined
}

// structOf declares a struct with n fields.
func (p *parts) structOf(name string, n int) string {
	fields, _ := p.fields(n)
	return fmt.Sprintf("\ntype %s struct {\n%s}\n", name, fields)
}

func (p *parts) field() string {
	name := pick(p.Rand, fieldNames)
	if p.IntN(50) == 0 {
		name = pick(p.Rand, oddNames)
	}
	if p.names[name]++; p.names[name] > 1 {
		name += fmt.Sprint(p.names[name])
	}
	typ := p.fieldType(2)
	markers := ""
	item, isList := strings.CutPrefix(typ, "[]")
	i := slices.IndexFunc(p.all, func(t part) bool { return t.name == item && t.key != "" })
	switch {
	case isList && i >= 0 && p.IntN(3) > 0:
		markers = "\t// +listType=map\n\t// +listMapKey=" + p.all[i].key + "\n"
	case typ == "[]metav1.Condition":
		markers = "\t// +listType=map\n\t// +listMapKey=type\n"
	case typ == "[]string":
		markers = pick(p.Rand, []string{"", "\t// +listType=set\n", "\t// +listType=atomic\n"})
	case strings.HasPrefix(typ, "map["):
		markers = pick(p.Rand, []string{"", "", "\t// +mapType=atomic\n"})
	case typ == "metav1.LabelSelector":
		markers = "\t// +structType=atomic\n"
	}
	if p.IntN(4) == 0 {
		markers += "\t// +optional\n"
	}
	first, size := utf8.DecodeRuneInString(name)
	key := strings.ToLower(string(first)) + name[size:]
	if p.IntN(12) == 0 {
		key = pick(p.Rand, []string{"x-", "$", "_"}) + key
	}
	return fmt.Sprintf("%s\t%s %s `json:\"%s%s\"`\n", markers, name, typ, key,
		pick(p.Rand, []string{"", "", ",omitempty", ",omitempty", ",omitzero"}))
}

// fieldType returns a type of the parts so far.
func (p *parts) fieldType(depth int) string {
	switch n := p.IntN(10); {
	case n < 3 || len(p.all) == 0:
		return pick(p.Rand, scalars)
	case n < 5:
		return pick(p.Rand, foreign)
	case n < 8 || depth == 0:
		return pick(p.Rand, []string{"", "", "*", "[]", "[]", "[]*", "map[string]", "map[string]*"}) +
			pick(p.Rand, p.all).name
	}
	inner := p.fieldType(depth - 1)
	if strings.HasPrefix(inner, "*") {
		return inner
	}
	return pick(p.Rand, []string{"[]", "map[string]", "map[string][]", "*"}) + inner
}

// selfEncoded are types with their own JSON, and the type that they have in schemas.
var selfEncoded = []struct{ openAPI, source string }{{"array", `// PART is a list in JSON.
type PART struct {
	Value  string   ` + "`json:\"-\"`" + `
	Values []string ` + "`json:\"-\"`" + `
}

func (p PART) MarshalJSON() ([]byte, error) { return json.Marshal(append([]string{p.Value}, p.Values...)) }

func (p *PART) UnmarshalJSON(text []byte) error {
	var all []string
	if err := json.Unmarshal(text, &all); err != nil || len(all) == 0 {
		return err
	}
	p.Value, p.Values = all[0], all[1:]
	return nil
}
`}, {"string", `// PART is a string in JSON.
type PART struct{ Name, Value string }

func (p PART) MarshalText() ([]byte, error) { return []byte(p.Name + "/" + p.Value), nil }

func (p *PART) UnmarshalText(text []byte) error {
	p.Name, p.Value, _ = strings.Cut(string(text), "/")
	return nil
}
`}, {"string", `// PART is a string in JSON.
type PART int64

func (p PART) MarshalJSON() ([]byte, error) { return json.Marshal(strconv.FormatInt(int64(p), 10)) }

func (p *PART) UnmarshalJSON(text []byte) error {
	var s string
	if err := json.Unmarshal(text, &s); err != nil {
		return err
	}
	n, err := strconv.ParseInt(s, 10, 64)
	*p = PART(n)
	return err
}
`}, {"string", `// PART promotes the JSON of its field.
type PART struct{ metav1.Time }
`}}

// openAPIMethods say how a type looks in schemas.
const openAPIMethods = `
func (%s) OpenAPISchemaType() []string { return []string{%q} }

func (%[1]s) OpenAPISchemaFormat() string { return "" }
`
