package crds

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/install"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"

	"github.com/kubewright/kubewright/generators/internal/crd"
)

// refused is a definition with most of what servers check.
const refused = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: ovens.baking.k8s.io
  annotations: {api-approved.kubernetes.io: "unapproved, a test"}
spec:
  group: baking.k8s.io
  scope: Namespaced
  names:
    {kind: Oven, listKind: OvenList, plural: ovens, singular: oven, shortNames: [ov], categories: [all]}
  conversion:
    strategy: Webhook
    webhook:
      conversionReviewVersions: [v1]
      clientConfig:
        service: {name: converter, namespace: baking, path: /convert}
  versions:
  - name: v1
    served: true
    storage: true
    subresources:
      status: {}
      scale:
        {specReplicasPath: .spec.trays, statusReplicasPath: .status.trays, labelSelectorPath: .status.selector}
    additionalPrinterColumns:
    - {name: Trays, type: integer, format: int32, description: How many, priority: 1, jsonPath: .spec.trays}
    selectableFields:
    - {jsonPath: .spec.fuel}
    schema:
      openAPIV3Schema:
        type: object
        description: An oven.
        required: [spec]
        properties:
          apiVersion: {type: string}
          kind: {type: string}
          metadata: {type: object, properties: {name: {type: string, maxLength: 20}}}
          spec:
            type: object
            title: Spec
            externalDocs: {url: "https://example.com"}
            minProperties: 1
            x-kubernetes-map-type: granular
            properties:
              fuel: {type: string, enum: [gas, wood], default: gas}
              name: {type: string, pattern: "^[a-z]+$", minLength: 2, maxLength: 9, default: abc}
              trays: {type: integer, format: int32, minimum: 1, maximum: 9, exclusiveMaximum: true, default: 2}
              heat: {type: number, multipleOf: 0.5, nullable: true, default: 1.5}
              port: {x-kubernetes-int-or-string: true, anyOf: [{type: integer}, {type: string}], default: 80}
              clean: {type: boolean, default: false}
              labels: {type: object, additionalProperties: {type: string}, maxProperties: 3, default: {a: b}}
              any: {x-kubernetes-preserve-unknown-fields: true}
              pod:
                type: object
                x-kubernetes-embedded-resource: true
                x-kubernetes-preserve-unknown-fields: true
                properties: {kind: {type: string}, spec: {type: object}}
              set: {type: array, x-kubernetes-list-type: set, maxItems: 5, items: {type: string}, default: [a]}
              sets:
                type: array
                x-kubernetes-list-type: set
                items: {type: object, x-kubernetes-map-type: atomic, properties: {a: {type: string}}}
              keyed:
                type: array
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [name, port]
                items:
                  type: object
                  required: [name]
                  properties: {name: {type: string}, port: {type: integer, default: 1}, more: {type: object}}
              ruled:
                type: object
                properties: {min: {type: integer}, max: {type: integer}}
                x-kubernetes-validations:
                - {rule: self.min <= self.max, message: wrong, reason: FieldValueInvalid, fieldPath: .min}
              one:
                type: object
                properties: {a: {type: string}, b: {type: string}}
                oneOf: [{required: [a]}, {required: [b]}]
                not: {properties: {a: {pattern: "^x", maxLength: 3}}}
                allOf:
                - {anyOf: [{properties: {a: {enum: [y]}}}]}
          status:
            type: object
            properties: {trays: {type: integer}, selector: {type: string}}
  - name: v1alpha1
    served: false
    storage: false
    deprecated: true
    deprecationWarning: use v1
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
`

// unchecked matches Kubernetes' reasons for refusals that need CEL, junctors or its own arithmetic.
var unchecked = regexp.MustCompile(`\[\d+\]\.rule: (Invalid value: \{|Forbidden: estimated)|` +
	`evaluating rule|\(oneOf\)|MultipleOf declared|boundary value must`)

// stricter matches our reasons to refuse what a server accepts, because types or kubectl can't handle it.
var stricter = regexp.MustCompile(
	`write its types by hand|did you mean|quote it|given twice|no plain key|served: missing`)

// TestRefusals changes one place of a definition after the other. Import must refuse what Kubernetes refuses.
// With -short, it tries every third change.
func TestRefusals(t *testing.T) {
	judge := newJudge(t)
	if err := judge([]byte(refused)); err != nil {
		t.Fatalf("Kubernetes refuses the definition itself: %v", err)
	}
	if _, problems := crd.Read([]crd.Source{{Text: []byte(refused)}}); problems.Fatal() {
		t.Fatal(problems)
	}
	count, tried, both := 0, 0, 0
	for name, text := range mutations(t) {
		if count++; testing.Short() && count%3 != 0 {
			continue
		}
		tried++
		err := judge(text)
		_, problems := crd.Read([]crd.Source{{Text: text}})
		switch {
		case err != nil && problems.Fatal():
			both++
		case err != nil && unchecked.MatchString(err.Error()):
		case err != nil:
			t.Errorf("%s: only Kubernetes refuses this: %v", name, err)
		case problems.Fatal() && !stricter.MatchString(problems.Error()):
			t.Errorf("%s: only import refuses this: %v", name, problems)
		}
	}
	t.Logf("%d changes, of which Kubernetes refuses %d", tried, both)
}

// newJudge returns a function that validates a manifest as a server does at its creation.
func newJudge(t *testing.T) func([]byte) error {
	scheme := runtime.NewScheme()
	install.Install(scheme)
	decoder := serializer.NewCodecFactory(scheme).UniversalDecoder(apiextensions.SchemeGroupVersion)
	return func(text []byte) (err error) {
		defer func() {
			if r := recover(); r != nil { // some validations panic, and then a server refuses the request
				err = fmt.Errorf("panic: %v", r)
			}
		}()
		object, _, err := decoder.Decode(text, nil, nil)
		if err != nil {
			return err
		}
		return validation.ValidateCustomResourceDefinition(context.Background(),
			object.(*apiextensions.CustomResourceDefinition)).ToAggregate()
	}
}

// keywords are added to each schema.
const keywords = `uniqueItems: true
nullable: true
x-kubernetes-preserve-unknown-fields: true
x-kubernetes-embedded-resource: true
x-kubernetes-int-or-string: true
x-kubernetes-list-type: set
x-kubernetes-map-type: atomic
additionalProperties: {type: string}
default: {}
enum: [a]
pattern: "["
allOf: [{type: string}]
anyOf: [{pattern: "("}]
not: {properties: {a: {default: 1}}}
oneOf: [{items: {nullable: true}}]
description: x
items: {type: string}
required: [x]
x-kubernetes-validations: [{rule: "true", message: " "}]
x-kubernetes-validations : [{rule: "true", fieldPath: .nowhere}]
$ref: x`

// mutations yields definitions with one change each, by what changed.
func mutations(t *testing.T) func(func(string, []byte) bool) {
	var doc, extra yaml.Node
	if err := yaml.Unmarshal([]byte(refused), &doc); err != nil {
		t.Fatal(err)
	}
	var added []*yaml.Node
	for line := range strings.SplitSeq(keywords, "\n") {
		if err := yaml.Unmarshal([]byte(line), &extra); err != nil {
			t.Fatal(err)
		}
		added = append(added, extra.Content[0].Content...)
		extra = yaml.Node{}
	}
	scalars := []string{`""`, "x", `"Bad Name"`, "-1", "1.5", "true", "null", `"["`, "{}", "[]", "[x]",
		".a"}
	var replacements []*yaml.Node
	for _, scalar := range scalars {
		var node yaml.Node
		if err := yaml.Unmarshal([]byte(scalar), &node); err != nil {
			t.Fatal(err)
		}
		replacements = append(replacements, node.Content[0])
	}
	return func(yield func(string, []byte) bool) {
		emit := func(name string) bool {
			text, err := yaml.Marshal(&doc)
			if err != nil {
				t.Fatal(err)
			}
			return yield(name, text)
		}
		var walk func(path string, node *yaml.Node) bool
		walk = func(path string, node *yaml.Node) bool {
			old := node.Content
			step := 1
			if node.Kind == yaml.MappingNode {
				step = 2
			}
			for i := 0; i < len(old); i += step {
				at, key := fmt.Sprintf("%s[%d]", path, i), ""
				if step == 2 {
					at = path + "." + old[i].Value
					key = old[i].Value
					old[i].Value = key[:len(key)-1]
					if !emit("renamed " + at) {
						return false
					}
					old[i].Value = key
				}
				node.Content = slices.Delete(slices.Clone(old), i, i+step)
				if !emit("deleted " + at) {
					return false
				}
				node.Content = slices.Clone(old)
				for j, r := range replacements {
					node.Content[i+step-1] = r
					if !emit("set " + at + " to " + scalars[j]) {
						return false
					}
				}
				node.Content = old
				if step == 1 {
					node.Content = append(slices.Clone(old), old[i])
					if !emit("doubled " + at) {
						return false
					}
					node.Content = old
				}
				if !walk(at, old[i+step-1]) {
					return false
				}
			}
			if isSchema := slices.ContainsFunc(old, func(n *yaml.Node) bool { return n.Value == "type" }); !isSchema {
				return true
			}
			for i := 0; i < len(added); i += 2 {
				if slices.ContainsFunc(old, func(n *yaml.Node) bool { return n.Value == added[i].Value }) {
					continue
				}
				node.Content = append(slices.Clone(old), added[i], added[i+1])
				if !emit("added " + added[i].Value + " to " + path) {
					return false
				}
			}
			node.Content = old
			return true
		}
		if root := doc.Content[0]; root.Kind == yaml.MappingNode {
			walk("", root)
		}
	}
}
