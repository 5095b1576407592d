package model

import (
	"bytes"
	"go/ast"
	"go/token"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/kubewright/kubewright/generators/internal/marker"
)

// copyReader finds the types that get DeepCopy functions.
type copyReader struct {
	*copyPlanner
	// left are the packages whose functions controller-gen makes.
	left []*candidate
}

// readCopies returns the packages whose types get DeepCopy functions.
func (s *session) readCopies(packages []*candidate) []*CopyPackage {
	r := &copyReader{copyPlanner: &copyPlanner{session: s, shapes: newShapes(s.sources),
		made: map[string]bool{}, methods: map[*source]map[string]bool{}}}
	s.uncopied = map[string]bool{}
	var found []*CopyPackage
	for _, p := range packages {
		if pkg := r.readPackage(p); pkg != nil {
			found = append(found, pkg)
		}
	}
	// Plans need all packages: types refer to types of other packages.
	for _, pkg := range found {
		for _, t := range pkg.Types {
			r.plan(r.byPath[pkg.Path], t)
		}
	}
	r.reportLeft()
	s.copied, s.replaced = r.made, r.outputs
	return found
}

// copyTags are the tags of a package.
type copyTags struct {
	marker.Copies
	// all is true if the package asks for the functions of all its types.
	all bool
	// misplaced are tags for all types that stand in other files than doc.go.
	misplaced []token.Position
	// types are the tags of types.
	types map[string]marker.Copies
}

// unasked warns of tags for all types that have no effect, and notes the types whose tags for interfaces have
// none, as nothing asks for their functions.
func (r *copyReader) unasked(src *source, tags copyTags) {
	for _, pos := range tags.misplaced {
		r.Warnf(pos, "+%s is ignored here; it has an effect in the package's doc.go only", copiesOfPackage)
	}
	for name, own := range tags.types {
		if len(own.Interfaces) > 0 && own.Value == "" && own.Generate != "true" && own.Root != "true" {
			r.uncopied[src.path+"."+name] = true
		}
	}
}

// readPackage returns the types of a package that get functions, nil if there are none.
func (r *copyReader) readPackage(p *candidate) *CopyPackage {
	if r.cfg.Strict && !p.own() {
		return nil
	}
	tags := r.tags(p.src)
	if !tags.all {
		r.unasked(p.src, tags)
	}
	switch {
	case tags.Value == "false":
		r.warnUnmade(p, deepCopyGenHeader, "as doc.go has +k8s:deepcopy-gen=false; remove the file")
		return nil
	case !tags.all && len(tags.types) == 0:
		r.warnUnmade(p, deepCopyGenHeader, "as nothing asks for it; write // +"+copiesOfPackage+
			" in doc.go, or remove the file")
		return nil
	}
	pkg := &CopyPackage{HelperPackage: newHelperPackage(p, r.cfg.CopiesFile)}
	var controllerGen bool
	if r.cfg.Strict {
		pkg.File, controllerGen = copiesFile(p.src)
		pkg.Replaces = controllerGen && r.cfg.ReplaceControllerGen
	}
	r.outputs[p.src] = filepath.Join(p.src.dir, pkg.File)
	p.src.undeferTypes(r.outputs[p.src])
	for _, name := range slices.Sorted(maps.Keys(p.src.types)) {
		decl := p.src.types[name]
		if decl.file.ignored || decl.spec.Assign.IsValid() || !r.wanted(p, decl, tags) {
			continue
		}
		t := r.copyType(p, decl, tags.types[name])
		// Upstream makes a file even if there is nothing to write to it.
		if !r.cfg.Strict || t.Into || t.Copy || len(t.Interfaces) > 0 {
			pkg.Types = append(pkg.Types, t)
		}
	}
	left := controllerGen && !pkg.Replaces
	if len(pkg.Types) == 0 || left { // the file stays as it is
		r.keep(p.src)
		delete(r.methods, p.src)
	}
	if len(pkg.Types) == 0 {
		if !r.Problems.Fatal() { // a type that can't have some may be the reason
			r.warnUnmade(p, deepCopyGenHeader, "as no type of the package needs generated deep copies; remove "+
				"the file")
		}
		return nil
	}
	p.helped = true
	if left {
		r.left = append(r.left, p)
		return nil
	}
	slices.SortFunc(pkg.Types, func(a, b *CopyType) int { return strings.Compare(a.Name, b.Name) })
	for _, t := range pkg.Types {
		r.made[p.src.path+"."+t.bare()+".DeepCopyInto"] = t.Into
		r.made[p.src.path+"."+t.bare()+".DeepCopy"] = t.Copy
		for _, i := range t.Interfaces {
			r.made[p.src.path+"."+t.bare()+".DeepCopy"+i.Name] = true
		}
	}
	return pkg
}

// bare is the name of the type without its parameters.
func (t *CopyType) bare() string {
	name, _, _ := strings.Cut(t.Name, "[")
	return name
}

// tags reads the tags of a package and of its types.
func (r *copyReader) tags(src *source) copyTags {
	// Types with tags may be generated, as by go-swagger.
	src.undeferText("", "+k8s:deepcopy-gen", "+kubebuilder:object")
	tags := copyTags{types: map[string]marker.Copies{}}
	parse := func(found []marker.Tag, ofPackage bool) marker.Copies {
		copies, problems := marker.ParseCopies(found, ofPackage, r.cfg.Strict)
		r.Problems = append(r.Problems, problems...)
		return copies
	}
	for _, f := range src.files {
		if f.syntax == nil || f.ignored {
			continue
		}
		if f.isDoc() { // all of its comments, as for all package tags
			found := marker.ScanPackage(r.fset, f.syntax.Comments...)
			tags.Copies = parse(found, true)
			tags.all = tags.all || tags.Value == "package"
		}
		for _, group := range f.syntax.Comments {
			// Controller-gen reads the comments above every package clause.
			if r.cfg.Strict && group.End() < f.syntax.Package && mentions(group, copyWords...) {
				above := marker.ScanPackage(r.fset, group)
				found, _ := marker.ParseCopies(above, true, true)
				tags.all = tags.all || found.Generate == "true"
				r.Problems = append(r.Problems, marker.HelperTypos(above, true)...)
				if !f.isDoc() && found.Value == "package" {
					tags.misplaced = append(tags.misplaced, found.Pos)
				}
			}
		}
		r.typeTagsOf(f, func(name string, found []marker.Tag) {
			if copies := parse(found, false); copies.Given {
				tags.types[name] = copies
			}
		})
	}
	return tags
}

// copyWords are what comments with deepcopy tags have, also with most misspelt ones.
var copyWords = []string{"k8s:", "deepcopy-gen", "kubebuilder:object"}

// typeTagsOf calls visit for each type of a file that may have deepcopy tags.
func (r *copyReader) typeTagsOf(f *file, visit func(string, []marker.Tag)) {
	has := func(group *ast.CommentGroup) bool { return group != nil && mentions(group, copyWords...) }
	if !slices.ContainsFunc(f.syntax.Comments, has) {
		return
	}
	index := newComments(r.fset, f.syntax)
	for _, decl := range f.syntax.Decls {
		gen, ok := decl.(*ast.GenDecl)
		if !ok || gen.Tok != token.TYPE {
			continue
		}
		for _, spec := range gen.Specs {
			name := spec.(*ast.TypeSpec).Name
			closest, second := index.forDeclaration(name.Pos())
			if has(closest) || has(second) {
				visit(name.Name, marker.ScanPackage(r.fset, second, closest))
			}
		}
	}
}

// wanted reports whether a type gets functions: if its tags or those of the package ask for them,
// and if it can have some.
func (r *copyReader) wanted(p *candidate, decl *typeDecl, tags copyTags) bool {
	own := tags.types[decl.name]
	asked := own.Value == "true"
	if r.cfg.Strict {
		asked = asked || own.Generate == "true" || own.Root == "true"
	}
	switch {
	case own.Value == "false", r.cfg.Strict && own.Generate == "false", !asked && !tags.all:
		return false
	case !r.copyable(p.src, decl.name):
		if asked {
			r.Errorf(r.at(decl.spec), "type %s is to have DeepCopy functions and can't have any; only exported "+
				"structs, maps and slices can", decl.name)
		}
		return false
	}
	return true
}

// copyable reports whether a type can have functions: exported structs, maps and slices, and others
// that have one of the two already.
func (r *copyReader) copyable(src *source, name string) bool {
	if first := name[:1]; strings.ToLower(first) == first {
		return false
	}
	switch s := r.declared(src, name, nil); s.form {
	case structForm, mapForm, sliceForm:
		return true
	case plainForm:
		return r.byHand(s)
	}
	return false
}

// copyType returns the functions to generate for a type, without Body.
func (r *copyReader) copyType(p *candidate, decl *typeDecl, tags marker.Copies) *CopyType {
	s := r.declared(p.src, decl.name, nil)
	t := &CopyType{Name: decl.name, Pos: r.at(decl.spec), ByValue: tags.ByValue, Reference: s.form.reference()}
	if params := decl.spec.TypeParams; params != nil {
		var names []string
		for _, field := range params.List {
			for _, n := range field.Names {
				names = append(names, n.Name)
			}
		}
		t.Name += "[" + strings.Join(names, ",") + "]"
	}
	r.byHand(s) // reports methods that can't be called
	copies, into, pointer := s.manual()
	t.Into, t.Copy = !into, !copies
	t.FromCopy, t.FromPointer = copies, copies && pointer
	interfaces := tags.Interfaces
	if r.cfg.Strict {
		t.Into = t.Into && !r.hasCopy(s, "DeepCopyInto")
		t.Copy = t.Copy && !r.hasCopy(s, "DeepCopy")
		if tags.Root == "true" {
			interfaces = append(interfaces, marker.CopyInterface{Path: "k8s.io/apimachinery/pkg/runtime",
				Name: "Object", Pos: tags.KubebuilderPos})
		}
	}
	if s.form == structForm {
		r.interfaces(s, t, interfaces)
		r.checkFields(s, t)
	}
	return t
}

// checkFields reports fields with the name of a method that is generated for their type.
func (r *copyReader) checkFields(s *shape, t *CopyType) {
	methods := map[string]bool{"DeepCopyInto": t.Into, "DeepCopy": t.Copy}
	for _, i := range t.Interfaces {
		methods["DeepCopy"+i.Name] = true
	}
	for _, f := range s.fields() {
		if !methods[f.name] {
			continue
		}
		pos := t.Pos
		if s.at.pkg == r.byPath[s.name.Path] {
			pos = r.fset.Position(f.pos)
		}
		r.Errorf(pos, "the field %s of %s has the name of a method that is generated for the type; give the field "+
			"another Go name, it may keep its JSON key", f.name, t.bare())
	}
}

// interfaces adds the interfaces that a type is to have methods for.
func (r *copyReader) interfaces(s *shape, t *CopyType, interfaces []marker.CopyInterface) {
	for _, i := range interfaces {
		name := TypeName{i.Path, i.Name}
		t.Imports = append(t.Imports, i.Path)
		intf := r.foreign(name, nil)
		switch {
		case !strings.Contains(i.Path, "/") && intf.form != interfaceForm:
			r.refuseInterface(s, i, "%s is no import path; write the whole one, as in %s.%s", i.Path,
				r.importOf(s.at.pkg, i), i.Name)
		case intf.missing != "":
			r.refuseInterface(s, i, "package %s of the interface %s can't be found; go get it", i.Path, i.Name)
		case intf.form != interfaceForm || intf.name != name:
			r.refuseInterface(s, i, "%s.%s is not an interface", i.Path, i.Name)
		// The compiler would refuse a second method. hasCopy doesn't count methods in the file that
		// is replaced.
		case slices.Contains(t.Interfaces, name), r.hasCopy(s, "DeepCopy"+i.Name):
		case slices.ContainsFunc(t.Interfaces, func(other TypeName) bool { return other.Name == i.Name }):
			r.StrictErrorf(i.Pos, "type %s would have two methods DeepCopy%s, as another of its interfaces is "+
				"called %[2]s, too; remove one", t.Name, i.Name)
		default:
			t.Interfaces = append(t.Interfaces, name)
		}
	}
	slices.SortFunc(t.Interfaces, func(a, b TypeName) int {
		return strings.Compare(a.Path+"."+a.Name, b.Path+"."+b.Name)
	})
}

// refuseInterface reports a tag that names no interface. It may be meant for the DeepCopyObject, which isn't
// reported as missing then.
func (r *copyReader) refuseInterface(s *shape, i marker.CopyInterface, format string, args ...any) {
	r.Errorf(i.Pos, format, args...)
	r.made[s.name.Path+"."+s.name.Name+".DeepCopyObject"] = true
}

// importOf returns the import path that the files of a package have for the package that an interface names.
func (r *copyReader) importOf(src *source, i marker.CopyInterface) string {
	for _, f := range src.files {
		if f.syntax == nil {
			continue
		}
		if path := r.importPath(f, i.Path); path != "" && path != i.Path {
			return path
		}
	}
	return "k8s.io/apimachinery/pkg/runtime"
}

// plan sets Body.
func (r *copyReader) plan(src *source, t *CopyType) {
	if !t.Into || t.FromCopy {
		return
	}
	name := t.bare()
	r.root, r.pos, r.what = src, src.types[name].spec.Name.Pos(), "type "+name
	t.Body = r.copyOf(r.declared(src, name, nil))
}

// copyFunction matches the line of a method in a file that wasn't parsed.
var copyFunction = regexp.MustCompile(`^func \((?:\w+ )?\*?(\w+)(?:\[[^\]]*\])?\) (DeepCopy\w*)\(`)

// copyFunctions calls visit for each DeepCopy method in the text of a file.
func copyFunctions(text []byte, visit func(method string)) {
	word := []byte(") DeepCopy")
	if !bytes.Contains(text, word) {
		return // true for most files, some of which are long
	}
	for line := range bytes.Lines(text) {
		if !bytes.Contains(line, word) {
			continue
		}
		if match := copyFunction.FindSubmatch(line); match != nil {
			visit(string(match[1]) + "." + string(match[2]))
		}
	}
}

// declaredCopies are the DeepCopy methods, as "Type.Method", in the files of a package that are not
// replaced. They include generated methods.
func (c *copyPlanner) declaredCopies(src *source) map[string]bool {
	if declared := c.methods[src]; declared != nil {
		return declared
	}
	declared := map[string]bool{}
	for _, method := range src.copies {
		if method.file.path != c.outputs[src] {
			declared[method.receiver+"."+method.decl.Name.Name] = true
		}
	}
	for _, f := range src.files {
		// Like upstream's binaries, the compatible ones don't read generated files of packages that
		// they generate for.
		_, own := c.outputs[src]
		if f.syntax != nil || f.path == c.outputs[src] || own && f.ignored && !c.cfg.Strict || !f.read() ||
			f.ignored && !f.generatedHere() {
			continue
		}
		copyFunctions(f.text, func(method string) { declared[method] = true })
	}
	c.methods[src] = declared
	return declared
}

// The files that deep copies are in, and the headers by which those of the two generators are known.
const (
	defaultCopiesFile   = "zz_generated.deepcopy.go"
	deepCopyGenHeader   = "// Code generated by deepcopy-gen. DO NOT EDIT."
	controllerGenHeader = "// Code generated by controller-gen. DO NOT EDIT."
)

// copiesFile returns the name of the file for the deep copies of a package: the one that has them
// already, or the usual name. controllerGen is true if that file is controller-gen's.
func copiesFile(src *source) (name string, controllerGen bool) {
	if name := fileWith(src, deepCopyGenHeader, defaultCopiesFile); name != "" {
		return name, false
	}
	if name := fileWith(src, controllerGenHeader, defaultCopiesFile); name != "" {
		return name, true
	}
	return defaultCopiesFile, false
}

// fileWith returns the name of a package's file with a line above its package clause, "" if there is
// none. Of several it prefers the one of the given name.
func fileWith(src *source, line, preferred string) string {
	found := ""
	for _, f := range src.files {
		var text []byte
		switch {
		case f.syntax != nil:
			text = []byte(headerOf(f.syntax))
		case f.read():
			text = header(f.text)
		}
		name := filepath.Base(f.path)
		if bytes.Contains(text, []byte(line)) && (found == "" || name == preferred) {
			found = name
		}
	}
	return found
}

// copiesOfPackage is the tag that asks for deep copies of all types of a package.
const copiesOfPackage = "k8s:deepcopy-gen=package"

// warnUnmade warns of a file that was generated into a package and isn't any more.
func (s *session) warnUnmade(p *candidate, header, why string) {
	if !s.cfg.Strict {
		return
	}
	if made := fileWith(p.src, header, ""); made != "" {
		s.Warnf(beside(p.position(s.base), made), "it was generated, and isn't any more, %s", why)
	}
}

// headerOf returns the comments above the package clause of a parsed file.
func headerOf(syntax *ast.File) string {
	var text strings.Builder
	for _, group := range syntax.Comments {
		for _, comment := range group.List {
			if comment.Pos() < syntax.Package {
				text.WriteString(comment.Text + "\n")
			}
		}
	}
	return text.String()
}

// reportLeft warns once of packages whose functions controller-gen makes.
func (r *copyReader) reportLeft() {
	if len(r.left) == 0 {
		return
	}
	more := ""
	if len(r.left) > 1 {
		more = " and of other packages"
	}
	r.Warnf(r.left[0].position(r.base),
		"controller-gen makes the deep copies of package %s%s; to have kubewright make them, give "+
			"--replace-controller-gen and leave out controller-gen's object generator",
		r.left[0].src.path, more)
}
