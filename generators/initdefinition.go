package generators

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/kubewright/kubewright/generators/internal/crd"
)

// minimalDefinition is the CustomResourceDefinition of a new kind, without a schema for spec and status.
const minimalDefinition = `# This definition keeps all fields of spec and status, and validates none. controller-gen
# writes one with a schema in its place: controller-gen crd paths=%[1]s output:crd:dir=%[2]s
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: %[3]s%[11]s
spec:
  group: %[4]s
  scope: %[5]s
  names:
    kind: %[6]s
    listKind: %[7]s
    plural: %[8]s
    singular: %[9]s
  versions:
  - name: %[10]s
    served: true
    storage: true
    subresources:
      status: {}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            x-kubernetes-preserve-unknown-fields: true
          status:
            type: object
            x-kubernetes-preserve-unknown-fields: true
`

// unapproved is the annotation without which servers reject a definition in a group of Kubernetes
// itself.
const unapproved = `
  annotations:
    api-approved.kubernetes.io: "unapproved, or the URL of the approval"`

var protectedGroup = regexp.MustCompile(`(^|\.)(k8s|kubernetes)\.io$`)

// definition returns the manifest of the kind.
func (i *Init) definition() string {
	scope := "Namespaced"
	if !i.namespaced {
		scope = "Cluster"
	}
	approval := ""
	if protectedGroup.MatchString(i.group) {
		approval = unapproved
	}
	return fmt.Sprintf(minimalDefinition, packagesBelow(i.apis), filepath.ToSlash(i.crds),
		yamlText(i.resource+"."+i.group), yamlText(i.group), scope, yamlText(i.kind), yamlText(i.kind+"List"),
		yamlText(i.resource), yamlText(strings.ToLower(i.kind)), yamlText(i.version), approval)
}

var (
	plainYAML = regexp.MustCompile(`^[A-Za-z][-.A-Za-z0-9]*$`)
	// yamlWord matches the words that YAML 1.1 or 1.2 reads as booleans or null.
	yamlWord = regexp.MustCompile(`^(?i:y|n|yes|no|on|off|true|false|null)$`)
)

// yamlText returns a string in YAML, with quotes only if it needs them.
func yamlText(s string) string {
	if plainYAML.MatchString(s) && !yamlWord.MatchString(s) {
		return s
	}
	return strconv.Quote(s)
}

// withVersion returns a definition with one more version: a copy of the version from, which is served but not
// stored, since a server stores one version. It isn't ok if the definition hasn't that version, or not on
// lines of its own. The rest of the text stays, and a definition with the new version stays as a whole.
func withVersion(text, from, to string) (changed string, ok bool) {
	versions := versionsOf(text)
	i := slices.IndexFunc(versions, func(v *crd.Version) bool { return v.Name == from })
	if slices.ContainsFunc(versions, func(v *crd.Version) bool { return v.Name == to }) || i < 0 {
		return text, i >= 0
	}
	lines := strings.SplitAfter(strings.TrimRight(text, "\n")+"\n", "\n")
	first := versions[i].Pos.Line - 1
	dash := strings.Index(lines[first], "- ")
	if dash < 0 || strings.TrimSpace(lines[first][:dash]) != "" {
		return text, false
	}
	end := first + 1
	for end < len(lines) && strings.HasPrefix(lines[end], strings.Repeat(" ", dash+2)) {
		end++
	}
	list := first
	for list > 0 && strings.TrimSpace(lines[list]) != "versions:" {
		list--
	}
	key := fmt.Sprintf(`(?m)^(\s{%d}- |\s{%d})`, dash, dash+2)
	item := strings.Join(lines[first:end], "")
	item = regexp.MustCompile(key+`name: .*$`).ReplaceAllString(item, "${1}name: "+yamlText(to))
	item = regexp.MustCompile(key+`storage: .*$`).ReplaceAllString(item, "${1}storage: false")
	conversion := ""
	if !strings.Contains(text, "\n  conversion:") {
		conversion = "  conversion:\n    strategy: None\n"
	}
	changed = strings.Join(lines[:list], "") + conversion + strings.Join(lines[list:end], "") + item +
		strings.Join(lines[end:], "")
	if !isStoredOnce(versionsOf(changed), len(versions)+1) {
		return text, false
	}
	return changed, true
}

// isStoredOnce reports whether there are n versions, of which one is stored.
func isStoredOnce(versions []*crd.Version, n int) bool {
	stored := 0
	for _, v := range versions {
		if v.Storage {
			stored++
		}
	}
	return len(versions) == n && stored == 1
}

// versionsOf returns the served versions of the definition in a manifest, nil if it has problems.
func versionsOf(text string) []*crd.Version {
	defs, problems := crd.Read([]crd.Source{{Text: []byte(text)}})
	if problems.Fatal() || len(defs) != 1 {
		return nil
	}
	return defs[0].Versions
}
