package model

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/kubewright/kubewright/generators/internal/marker"
)

// definition is the part of a CustomResourceDefinition, or of the marker that
// controller-gen makes one from, that has to agree with a client. Fields that aren't
// given are "".
type definition struct {
	// where is the manifest or the marker, for messages.
	where                      string
	group, kind, plural, scope string
}

// checkDefinitions compares the kinds of a package with definitions of their resources:
// +kubebuilder:resource above the type, and manifests in the folder of the package. A
// client with another resource or scope gets NotFound for every request.
func (s *session) checkDefinitions(p *candidate, tags map[string][]marker.Tag) {
	manifests := manifests(p, s.base)
	for _, kind := range p.kinds {
		definitions := resourceMarkers(tags[kind.Name])
		// Another group may have a kind of the same name.
		for _, d := range manifests {
			if d.kind == kind.Name && d.group == p.groupName() {
				definitions = append(definitions, d)
			}
		}
		for _, d := range definitions {
			if d.plural != "" && d.plural != kind.Resource && s.cfg.resources() {
				s.StrictErrorf(kind.Pos,
					"the resource of type %s is %q, but %q in %s; write // +resourceName=%s above the type",
					kind.Name, kind.Resource, d.plural, d.where, d.plural)
			}
			// The scope of a definition is optional, and so is that of the marker.
			switch {
			case d.scope == "Cluster" && kind.Namespaced:
				s.StrictErrorf(kind.Pos,
					"type %s is cluster-scoped in %s; write // +genclient:nonNamespaced above it",
					kind.Name, d.where)
			case d.scope == "Namespaced" && !kind.Namespaced:
				s.StrictErrorf(kind.Pos,
					"type %s has +genclient:nonNamespaced, but is namespaced in %s", kind.Name, d.where)
			}
		}
	}
}

// resourceMarkers parses +kubebuilder:resource:path=widgets,scope=Cluster.
func resourceMarkers(tags []marker.Tag) []definition {
	const name = "kubebuilder:resource:"
	var definitions []definition
	for _, tag := range tags {
		text, ok := strings.CutPrefix(tag.Text, name)
		if !ok {
			continue
		}
		d := definition{where: "+" + strings.TrimSuffix(name, ":")}
		for item := range strings.SplitSeq(text, ",") {
			key, value, _ := strings.Cut(strings.TrimSpace(item), "=")
			value = strings.Trim(value, "\"`")
			switch key {
			case "path":
				d.plural = value
			case "scope":
				d.scope = value
			}
		}
		definitions = append(definitions, d)
	}
	return definitions
}

// manifests reads the CustomResourceDefinitions in the folder of a package. It skips
// files that it can't parse: other tools report those.
func manifests(p *candidate, base string) []definition {
	entries, err := os.ReadDir(p.src.dir)
	if err != nil {
		return nil
	}
	var definitions []definition
	for _, entry := range entries {
		if ext := filepath.Ext(entry.Name()); entry.IsDir() ||
			!slices.Contains([]string{".yaml", ".yml", ".json"}, ext) {
			continue
		}
		file := newFile(p.src.dir, entry.Name(), base, false)
		text, err := os.ReadFile(file.path)
		if err != nil || !bytes.Contains(text, []byte("CustomResourceDefinition")) {
			continue
		}
		// A separator of YAML documents may stand on the first line.
		for document := range bytes.SplitSeq(append([]byte("\n"), text...), []byte("\n---")) {
			var crd struct {
				Kind string
				Spec struct {
					Group, Scope string
					Names        struct{ Kind, Plural string }
				}
			}
			if yaml.Unmarshal(document, &crd) == nil && crd.Kind == "CustomResourceDefinition" {
				definitions = append(definitions,
					definition{file.name, crd.Spec.Group, crd.Spec.Names.Kind, crd.Spec.Names.Plural,
						crd.Spec.Scope})
			}
		}
	}
	return definitions
}
