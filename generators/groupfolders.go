package generators

import (
	"fmt"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/kubewright/kubewright/generators/internal/crd"
	"github.com/kubewright/kubewright/generators/internal/marker"
	"github.com/kubewright/kubewright/generators/internal/model"
	"github.com/kubewright/kubewright/generators/internal/output"
	"github.com/kubewright/kubewright/generators/internal/render"
)

// groupFolders are the folders of groups below the folder of an import.
type groupFolders struct {
	dir string
	// folders are the folders' names by group. goNames are the Go names of the groups that can't have the
	// default.
	folders, goNames map[string]string
	// own are the files of this run, as file/group/version.
	own map[string]bool
	// moved has the reason why the new folder of a group has its whole name: the folder of the first label
	// exists and belongs to another group.
	moved map[string]string
}

// newGroupFolders chooses the folders. The folder of a group has the name of its first label, or the whole
// name if another group has the same first label. An existing folder stays with its group. A group for which
// no folder is left is a problem.
func newGroupFolders(dir string, defs []*crd.Definition) (*groupFolders, Problems, error) {
	p := &groupFolders{dir, map[string]string{}, map[string]string{}, map[string]bool{}, map[string]string{}}
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
		if holder := holders[label]; folder == long && holder != "" && holder != d.Group && holders[long] == "" {
			p.moved[d.Group] = filepath.Join(dir, label) + " has group " + holder
		}
		if holder := holders[folder]; holder != "" && holder != d.Group {
			problems = append(problems, marker.Problem{Pos: d.Pos, Message: fmt.Sprintf("group %s has the folder %s,"+
				" which group %s would have, too; import it to another --apis-dir", holder,
				filepath.Join(dir, folder), d.Group)})
			continue
		}
		p.folders[d.Group], holders[folder] = folder, d.Group
		for _, v := range d.Versions {
			problems = append(problems, otherPackages(p.folder(d.Group, v.Name), v.Name)...)
			if madeByImport(filepath.Join(p.folder(d.Group, v.Name), registerFile)) {
				p.own[registerFile+"/"+d.Group+"/"+v.Name] = true
			}
		}
		if folder == long || beginsWithDigit(d.Group) {
			p.goNames[d.Group] = goGroupName(d.Group)
		}
	}
	return p, problems.Sort(), nil
}

// firstLabel returns the folder of a group that shares its first label with no other.
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

// groupOf returns the group whose versions are in a folder, "" if there are none. It reads all files of a
// version, because kubebuilder doesn't put the tag in doc.go.
func groupOf(dir string) (group string, err error) {
	for _, version := range output.Folders(dir) {
		if group, err = groupIn(filepath.Join(dir, version)); err != nil || group != "" {
			return group, err
		}
	}
	return "", nil
}

// groupIn returns the group that a folder's own files name, "" for none.
func groupIn(dir string) (group string, err error) {
	_, err = output.AnyLine(dir, func(line string) bool {
		comment, isComment := strings.CutPrefix(strings.TrimSpace(line), "//")
		name, isName := strings.CutPrefix(strings.TrimSpace(comment), "+groupName=")
		if isComment && isName {
			group = name
		}
		return isComment && isName
	})
	return group, err
}

// typesFile is the file for the types of a kind. Its suffix keeps the go command from taking it for a test or
// for that of a platform.
func typesFile(kind string) string { return strings.ToLower(kind) + "_types.go" }

func (p *groupFolders) folder(group, version string) string {
	return filepath.Join(p.dir, p.folders[group], version)
}

// declared returns the names that files of other runs and hand-written ones declare, and where.
func (p *groupFolders) declared(group, version string) map[string]string {
	return model.Declared(p.folder(group, version), func(file string) bool {
		return !p.own[file+"/"+group+"/"+version]
	})
}

// importedPackage is the view of a doc.go.
type importedPackage struct {
	Group, GroupGoName, Version string
	Imported                    bool
}

// files lists the files. A doc.go that was written by hand stays.
func (p *groupFolders) files(all []*crd.Types, header string) []render.File {
	var files []render.File
	docs := map[string]bool{}
	kinds := map[[2]string][]string{}
	for _, t := range all {
		version := [2]string{t.Group, t.Name}
		kinds[version] = append(kinds[version], t.Kind)
	}
	for _, t := range all {
		dir := p.folder(t.Group, t.Name)
		files = append(files, render.File{Path: filepath.Join(dir, typesFile(t.Kind)), Header: header,
			Template: "types/kind.tmpl", View: func() any { return t }})
		doc := filepath.Join(dir, "doc.go")
		if docs[doc] {
			continue
		}
		docs[doc] = true
		if f, ok := p.registration(t.Group, t.Name, kinds[[2]string{t.Group, t.Name}], header); ok {
			files = append(files, f)
		}
		if p.keepsDoc(doc) {
			continue
		}
		files = append(files, render.File{Path: doc, Header: header, Template: "types/doc.tmpl",
			View: func() any {
				return importedPackage{t.Group, p.goNames[t.Group], t.Name, true}
			}})
	}
	return files
}

// otherPackages reports files in the folder of a version that belong to another package than its types.
func otherPackages(dir, version string) Problems {
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil // a path that isn't a valid pattern
	}
	var problems Problems
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") || !output.IsFile(file) {
			continue
		}
		fset := token.NewFileSet()
		syntax, err := parser.ParseFile(fset, file, nil, parser.PackageClauseOnly)
		if err != nil || syntax.Name.Name == version {
			continue // syntax errors are reported when the package is loaded
		}
		problems = append(problems, marker.Problem{Pos: fset.Position(syntax.Name.Pos()), Message: fmt.Sprintf(
			"the types are of package %s, and this is of %s; rename it, or use another --apis-dir", version,
			syntax.Name.Name)})
	}
	return problems
}

// mentions reports whether a file has a text.
func mentions(file, text string) bool {
	content, err := output.Read(file)
	return err == nil && strings.Contains(content, text)
}

// keepsDoc reports whether a doc.go exists that no import made.
func (p *groupFolders) keepsDoc(file string) bool {
	return output.IsFile(file) && !madeByImport(file)
}

// skipMarker keeps generate --crds-dir and controller-gen from writing definitions for a package.
const skipMarker = "+kubebuilder:skip"

// warnings are about folders that are not the usual ones, a doc.go without skipMarker, and types of versions
// that are no longer served: nothing updates them.
func (p *groupFolders) warnings(defs []*crd.Definition) Problems {
	var problems Problems
	set := output.Set{Headers: []string{generatedLine(importName)}}
	docs := map[string]bool{}
	for _, d := range defs {
		dir := filepath.Join(p.dir, p.folders[d.Group])
		if other := p.moved[d.Group]; other != "" {
			delete(p.moved, d.Group)
			problems = append(problems, marker.Problem{Warning: true, Pos: d.Pos, Message: fmt.Sprintf(
				"the types of group %s go to %s, as %s", d.Group, dir, other)})
		}
		for _, v := range d.Versions {
			doc := filepath.Join(dir, v.Name, "doc.go")
			if !docs[doc] && p.keepsDoc(doc) && !mentions(doc, strings.TrimPrefix(skipMarker, "+")) {
				problems = append(problems, marker.Problem{Warning: true, Pos: token.Position{Filename: doc, Line: 1,
					Column: 1}, Message: "generate --crds-dir and controller-gen would write definitions of the imported " +
					"kinds, too; add // " + skipMarker + " above the package clause"})
			}
			docs[doc] = true
		}
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
