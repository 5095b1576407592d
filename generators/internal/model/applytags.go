package model

import (
	"go/token"
	"slices"
	"strconv"
	"strings"

	"github.com/kubewright/kubewright/generators/internal/marker"
)

// checkTags warns of fields that the apply configurations of a package leave out, because they have no json
// tag. A struct without any such tag has no apply configuration.
func (a *applyReader) checkTags(p *ApplyPackage) {
	for _, t := range p.Types {
		if t.Marshaler != "" {
			continue // its fields aren't those of its JSON
		}
		for _, f := range t.Fields {
			if _, ok := f.Tag.Lookup("json"); ok || !f.Embedded && !token.IsExported(f.Name) {
				continue
			}
			if t.Kind != nil && slices.Contains([]string{"Spec", "Status", "TypeMeta", "ObjectMeta"}, f.Name) ||
				f.Embedded && f.Type.Deref().Name.Name == "TypeMeta" {
				continue // reported as an error
			}
			key := strings.ToLower(f.Name[:1]) + f.Name[1:] + ",omitempty"
			if f.Embedded {
				key = ",inline"
			}
			a.Warnf(f.Pos, "the field %s of %s %s, so apply configurations leave it out; write `json:%s`, or "+
				"`json:\"-\"`", f.Name, t.TypeName.Name, withoutKey(string(f.Tag)), strconv.Quote(key))
		}
	}
}

// withoutKey says why a tag has no key json.
func withoutKey(tag string) string {
	if strings.TrimSpace(tag) == "" {
		return "has no json tag"
	}
	for part := range strings.FieldsSeq(tag) {
		key, _, ok := strings.Cut(part, ":\"")
		switch {
		case !ok:
			return "has a malformed tag"
		case marker.Suggest(key, []string{"json"}) != "":
			return "has the tag " + key + " and no json tag"
		}
	}
	return "has no json tag"
}
