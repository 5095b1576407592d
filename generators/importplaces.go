package generators

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/kubewright/kubewright/generators/crd"
	"github.com/kubewright/kubewright/generators/marker"
	"github.com/kubewright/kubewright/generators/model"
	"github.com/kubewright/kubewright/generators/output"
	"github.com/kubewright/kubewright/generators/render"
)

// importPlaces are the folders of groups below the folder of an import.
type importPlaces struct {
	dir string
	// folders are the names by group, goNames the Go names of the groups for which the default won't do.
	folders, goNames map[string]string
	// own are the files of this run.
	own map[string]bool
}

// newImportPlaces chooses the folders. A group gets its first label, or all of its name if another group has
// that label, too. A folder that exists stays that of its group. Groups for which none is left are problems.
func newImportPlaces(dir string, defs []*crd.Definition) (*importPlaces, Problems, error) {
	p := &importPlaces{dir, map[string]string{}, map[string]string{}, map[string]bool{}}
	sharing := map[string]map[string]bool{} // groups by first label
	for _, d := range defs {
		label := firstLabel(d.Group)
		if sharing[label] == nil {
			sharing[label] = map[string]bool{}
		}
		sharing[label][d.Group] = true
		for _, v := range d.Versions {
			p.own[typesFile(d.Kind)+"/"+d.Group+"/"+v.Name] = true
		}
	}
	holders := map[string]string{} // groups by folder
	var problems Problems
	for _, d := range defs {
		if p.folders[d.Group] != "" {
			continue
		}
		label, long := firstLabel(d.Group), folderName(d.Group)
		for _, folder := range []string{label, long} {
			if _, known := holders[folder]; known {
				continue
			}
			group, err := groupOf(filepath.Join(dir, folder))
			if err != nil {
				return nil, nil, err
			}
			holders[folder] = group
		}
		folder := label
		if holders[long] == d.Group || holders[label] != d.Group && len(sharing[label]) > 1 ||
			holders[label] != "" && holders[label] != d.Group {
			folder = long
		}
		if holder := holders[folder]; holder != "" && holder != d.Group {
			problems = append(problems, marker.Problem{Pos: d.Pos, Message: fmt.Sprintf("group %s has the folder %s,"+
				" which group %s would have, too; import it to another --apis-dir", holder,
				filepath.Join(dir, folder), d.Group)})
			continue
		}
		p.folders[d.Group], holders[folder] = folder, d.Group
		if folder == long || beginsWithDigit(d.Group) {
			p.goNames[d.Group] = goGroupName(d.Group)
		}
	}
	return p, problems.Sort(), nil
}

// firstLabel returns the folder of a group that shares it with no other.
func firstLabel(group string) string {
	label, _, _ := strings.Cut(group, ".")
	return folderName(label)
}

// folderName returns the letters and digits of a group or of a part of it.
func folderName(group string) string {
	name := strings.NewReplacer("-", "", ".", "").Replace(group)
	if slices.Contains([]string{"internal", "vendor", "testdata"}, name) {
		name += "group"
	}
	return name
}

// beginsWithDigit reports whether a group's first label can't begin a Go name.
func beginsWithDigit(group string) bool { return unicode.IsDigit(rune(group[0])) }

// goGroupName returns the Go name of a group with all its labels.
func goGroupName(group string) string {
	var name strings.Builder
	if beginsWithDigit(group) {
		name.WriteString("Group")
	}
	for word := range strings.FieldsFuncSeq(group, func(r rune) bool { return r == '.' || r == '-' }) {
		name.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return name.String()
}

// groupOf returns the group whose versions are in a folder, "" if there are none. Kubebuilder has the tag in
// another file than doc.go.
func groupOf(dir string) (group string, err error) {
	for _, version := range output.Folders(dir) {
		found, err := output.AnyLine(filepath.Join(dir, version), func(line string) bool {
			comment, isComment := strings.CutPrefix(strings.TrimSpace(line), "//")
			name, isName := strings.CutPrefix(strings.TrimSpace(comment), "+groupName=")
			if isComment && isName {
				group = name
			}
			return isComment && isName
		})
		if err != nil || found {
			return group, err
		}
	}
	return "", nil
}

// typesFile is the file for the types of a kind. Its suffix keeps the go command from taking it for a test or
// for that of a platform.
func typesFile(kind string) string { return strings.ToLower(kind) + "_types.go" }

func (p *importPlaces) folder(group, version string) string {
	return filepath.Join(p.dir, p.folders[group], version)
}

// declared returns the names that files of other runs and hand-written ones declare, and where.
func (p *importPlaces) declared(group, version string) map[string]string {
	return model.Declared(p.folder(group, version), func(file string) bool {
		return !p.own[file+"/"+group+"/"+version]
	})
}

// importedPackage is the view of a doc.go. Origin ends the sentence that says what the package has.
type importedPackage struct{ Group, GroupGoName, Version, Origin string }

// files lists the files. A doc.go that was written by hand stays.
func (p *importPlaces) files(all []*crd.Types, header string) []render.File {
	var files []render.File
	docs := map[string]bool{}
	for _, t := range all {
		dir := p.folder(t.Group, t.Name)
		files = append(files, render.File{Path: filepath.Join(dir, typesFile(t.Kind)), Header: header,
			Template: "types/kind.tmpl", View: func() any { return t }})
		doc := filepath.Join(dir, "doc.go")
		if docs[doc] || p.keepsDoc(doc) {
			continue
		}
		docs[doc] = true
		files = append(files, render.File{Path: doc, Header: header, Template: "types/doc.tmpl",
			View: func() any {
				return importedPackage{t.Group, p.goNames[t.Group], t.Name, ", imported from CustomResourceDefinitions"}
			}})
	}
	return files
}

// keepsDoc reports whether a doc.go exists that no import made.
func (p *importPlaces) keepsDoc(file string) bool {
	return output.IsFile(file) &&
		!(output.Set{Headers: []string{generatedLine(importName)}}).Has(filepath.Dir(file), "doc.go")
}

// warnings are about types of versions that are no longer served: nothing updates them.
func (p *importPlaces) warnings(defs []*crd.Definition) Problems {
	var problems Problems
	set := output.Set{Headers: []string{generatedLine(importName)}}
	for _, d := range defs {
		dir := filepath.Join(p.dir, p.folders[d.Group])
		for _, version := range output.Folders(dir) {
			if p.own[typesFile(d.Kind)+"/"+d.Group+"/"+version] ||
				!set.Has(filepath.Join(dir, version), typesFile(d.Kind)) {
				continue
			}
			problems = append(problems, marker.Problem{Warning: true,
				Pos: d.Pos,
				Message: fmt.Sprintf("%s, which an earlier import wrote, is of a version that is no longer served;"+
					" remove it", filepath.Join(dir, version, typesFile(d.Kind)))})
		}
	}
	return problems.Sort()
}
