package generators_test

import (
	"math/rand/v2"
	"slices"
	"strings"
)

// awkwardFields are fields that collide with methods that a type gets, or that an apply configuration can't
// have, some of them only together.
var awkwardFields = []string{
	"GetName string", "SetLabels bool", "GetObjectKind string", "DeepCopyObject bool", "DeepCopy string",
	"DeepCopyInto []string", "GetKind string", "GetAPIVersion *int32", "WithName string",
	"WithSpec string", "WithStatus bool", "WithX string", "X *int32", "IsApplyConfiguration bool",
	"TypeMetaApplyConfiguration string", "ObjectMetaApplyConfiguration bool", "Name string", "Name int32",
	"Namespace *int32", "Kind string", "Kind bool", "Hidden hidden", "Hiddens []*hidden", "Nested nested",
	"ByNested map[hidden]nested", "Untagged untagged", "ExtractStatus string", "GetX string",
}

// awkwardTypes are declared in each package with such fields.
const awkwardTypes = `
type hidden string

type nested struct {
	DeepCopyObject []hidden ` + "`json:\"-\"`" + `
	WithHidden     string   ` + "`json:\"withHidden\"`" + `
}

type untagged struct {
	metav1.TypeMeta

	A string ` + "`json:\"a\"`" + `
}
`

// awkwardKinds adds fields to some kinds, and gives some the name of something that the registration of a
// package declares, or the name of another kind in capitals.
func awkwardKinds(seed uint64, pkg int, kinds []apiKind) []apiKind {
	r := rand.New(rand.NewPCG(seed, uint64(2+pkg)))
	for i := range kinds {
		for r.IntN(12) == 0 {
			field := pick(r, awkwardFields)
			if name, _, _ := strings.Cut(field, " "); !strings.Contains(kinds[i].fields, "\t"+name+" ") {
				kinds[i].fields += "\t" + field + " `json:\"" + strings.ToLower(name) + ",omitempty\"`\n"
			}
		}
	}
	named := func(name string) bool {
		return slices.ContainsFunc(kinds, func(k apiKind) bool { return k.name == name || k.name+"List" == name })
	}
	switch r.IntN(24) {
	case 0:
		name := pick(r, []string{"Kind", "Kind", "Install", "SchemeBuilder", "GroupVersion"})
		if !named(name) {
			kinds = append(kinds, apiKind{name: name})
		}
	case 1:
		if len(kinds) > 0 && !named(strings.ToUpper(kinds[0].name)) {
			kinds = append(kinds, apiKind{name: strings.ToUpper(kinds[0].name)})
		}
	}
	return kinds
}
