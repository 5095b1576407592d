package generators

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/kubewright/kubewright/generators/internal/crd"
	"github.com/kubewright/kubewright/generators/internal/model"
	"github.com/kubewright/kubewright/generators/internal/output"
	"github.com/kubewright/kubewright/generators/internal/render"
)

// follow takes the resource and the scope from the other version of the kind. resource is the value of the
// flag, "" for none.
func (i *Init) follow(source *kindSource, resource string) error {
	i.resource = model.Resource(i.kind)
	if name, ok := source.tag("resourceName"); ok {
		i.resource = name
	}
	if resource != "" && resource != i.resource {
		return fmt.Errorf("--resource %s: %s has the resource %s in %s, and all versions of a kind have the"+
			" same; leave out the flag", resource, i.kind, i.resource, source.version)
	}
	_, forCluster := source.tag(`genclient:nonNamespaced`)
	if !i.namespaced && !forCluster {
		return fmt.Errorf("--namespaced=false: objects of %s are in namespaces in %s, and all versions of a"+
			" kind have the same scope; leave out the flag", i.kind, source.version)
	}
	i.namespaced = !forCluster
	return nil
}

// goFiles returns the contents of the new Go files of the kind by path. source is the kind in another
// version, nil for a new kind.
func (i *Init) goFiles(begun *Begun, folders *groupFolders, defs []*crd.Definition,
	source *kindSource) (map[string][]byte, error) {
	dir := folders.folder(i.group, i.version)
	declared := model.Declared(dir, handWritten)
	for _, name := range []string{i.kind, i.kind + "List"} {
		if at := declared[name]; at != "" {
			return nil, fmt.Errorf("%s: a type %s exists, and init replaces none; give another --kind,"+
				" --version or --group", at, name)
		}
	}
	file := "types.go"
	if source != nil {
		file = source.types.name
	}
	if begun.Types = filepath.Join(dir, file); output.Exists(begun.Types) {
		begun.Types = filepath.Join(dir, typesFile(i.kind))
	}
	var files []render.File
	if source == nil {
		files = append(files, render.File{Path: begun.Types, Template: "types/kind.tmpl",
			View: func() any { return begunTypes(defs) }})
	}
	named, err := groupIn(dir)
	if err != nil {
		return nil, err
	}
	copiedDoc, doc := "", filepath.Join(dir, "doc.go")
	if named == "" && !output.Exists(doc) {
		if copiedDoc, err = newestDoc(filepath.Dir(dir), i.group, i.version); err != nil {
			return nil, err
		}
		if copiedDoc == "" {
			files = append(files, render.File{Path: doc, Template: "types/doc.tmpl", View: func() any {
				return importedPackage{i.group, folders.goNames[i.group], i.version, false}
			}})
		}
	} else if err := begun.advise(dir, declared); err != nil {
		return nil, err
	}
	contents, err := renderTypes(files)
	if err != nil {
		return nil, err
	}
	if copiedDoc != "" {
		contents[doc] = []byte(copiedDoc)
	}
	if source != nil {
		contents[begun.Types], err = source.copied(i.version, declared)
		begun.HasMethods = bytes.Contains(contents[begun.Types], []byte("+genclient:method"))
	}
	return contents, err
}

// advise adds what to do by hand in a package that exists: what it registers itself isn't generated.
func (b *Begun) advise(dir string, declared map[string]string) error {
	for _, name := range []string{"SchemeBuilder", "AddToScheme", "addKnownTypes", "Install"} {
		if at := declared[name]; at != "" {
			b.Registers = true
			b.Advice = append(b.Advice, fmt.Sprintf("register &%s{} and &%[1]sList{} beside the package's other"+
				" types: kubewright doesn't, because of %s at %s", b.Kind, name, at))
			break
		}
	}
	copies, err := output.AnyLine(dir, func(line string) bool {
		comment, ok := strings.CutPrefix(strings.TrimSpace(line), "//")
		tag := strings.TrimSpace(comment)
		return ok && (strings.HasPrefix(tag, "+k8s:deepcopy-gen=package") ||
			tag == "+kubebuilder:object:generate=true")
	})
	if err == nil && !copies {
		b.Advice = append(b.Advice, "write // +k8s:deepcopy-gen=package above the package clause in "+
			filepath.Join(dir, "doc.go")+", or the new types have no deep copies")
	}
	return err
}

// adviseDefinition adds what to do by hand for the definition, which the line for go generate in dir doesn't
// make.
func (i *Init) adviseDefinition(begun *Begun, dir string) error {
	crds, err := relative(dir, i.crds)
	by := "write one of " + begun.Kind + " by hand"
	if begun.CopiedFrom != "" {
		by = fmt.Sprintf("add version %s to that of %s, as a copy of %s with storage: false", i.version, begun.Kind,
			begun.CopiedFrom)
	}
	begun.Advice = append(begun.Advice, fmt.Sprintf("for the CustomResourceDefinition, add --crds-dir %s to "+
		"the //go:generate line in %s, or %s", crds, filepath.ToSlash(dir), by))
	return err
}
