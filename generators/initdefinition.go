package generators

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
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
