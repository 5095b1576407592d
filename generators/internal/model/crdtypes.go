package model

import (
	"go/ast"
	"go/token"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/kubewright/kubewright/generators/internal/marker"
)

// CRDs are the types that CustomResourceDefinitions are made of.
type CRDs struct {
	// Packages are the packages of the run, by import path.
	Packages []*CRDPackage
	// Problems are those of the markers. They don't fail the load, so that one run reports them together with
	// those of the definitions.
	Problems marker.Problems
	types    map[TypeName]*CRDType
	// found is what the go command says of other packages.
	found map[string]listed
}

// Unfound says why the go command didn't find a package, "" if it did, or if it wasn't asked.
func (c *CRDs) Unfound(path string) string {
	if e := c.found[path].Error; e != nil {
		return oneLine(e.Err)
	}
	return ""
}

// Type returns a type that a kind consists of, nil if its declaration wasn't found.
func (c *CRDs) Type(name TypeName) *CRDType { return c.types[name] }

// hasKinds reports whether a package has kinds; for "", whether any package has.
func (c *CRDs) hasKinds(path string) bool {
	return c != nil && slices.ContainsFunc(c.Packages, func(p *CRDPackage) bool {
		return len(p.Kinds) > 0 && (path == "" || p.Path == path)
	})
}

// CRDPackage is a package as definitions see it.
type CRDPackage struct {
	// Path is the import path, Dir the absolute folder.
	Path, Dir string
	// Pos is where the group is given, or the package clause.
	Pos token.Position
	// Group and Version are the API group and version; HasGroup is false without +groupName.
	Group, Version string
	HasGroup       bool
	// Skip is true for a package with +kubebuilder:skip, whose types have no definition, and Optional for one
	// whose fields are optional by default.
	Skip, Optional bool
	// Kinds are the types that embed TypeMeta and ObjectMeta, or are named like one of another package of the
	// group, in the order of their declarations.
	Kinds []*CRDType
}

// CRDType is a declared type as definitions see it.
type CRDType struct {
	TypeName
	Package *CRDPackage
	Pos     token.Position
	Doc     string
	Markers []marker.CRDMarker
	// Alias is true for an alias, Params are the names of type parameters.
	Alias  bool
	Params []string
	// Expr is the type in the declaration, nil for a struct; Fields are the fields of a struct.
	Expr   *Expr
	Fields []*CRDField
	// Marshaler is that of [Type].
	Marshaler string
	// Values are the string literals among the constants of exactly this type.
	Values []string
}

// CRDField is a field as definitions see it.
type CRDField struct {
	// Name is "" for an embedded field.
	Name    string
	Pos     token.Position
	Doc     string
	Markers []marker.CRDMarker
	Type    *Expr
	// Key is the key in JSON. Tagged is false without a json tag that Go reads, Ignored true for the tag "-",
	// Inline true if the tag says so or has no key, Omitted true for a field that is left out if it is empty or
	// zero.
	Key                              string
	Tagged, Ignored, Inline, Omitted bool
}

// crdReader reads the types that definitions are made of. Unlike typeReader, whose comments are gengo's, it
// knows the packages of the standard library, and keeps aliases.
type crdReader struct {
	*session
	marker.Reporter
	exprs    *typeReader
	crds     *CRDs
	packages map[*source]*CRDPackage
	files    map[*file]*marker.CRDComments
	// own are the packages of the run, whose markers are checked.
	own map[*source]bool
}

// readCRDs reads the kinds of packages, and all types that are reachable from them.
func (s *session) readCRDs(packages []*candidate) *CRDs {
	r := crdReader{session: s, Reporter: marker.Reporter{Strict: s.cfg.Strict}, exprs: newTypeReader(s.sources),
		crds: &CRDs{types: map[TypeName]*CRDType{}, found: s.found}, packages: map[*source]*CRDPackage{},
		files: map[*file]*marker.CRDComments{}, own: map[*source]bool{}}
	var declared []*CRDType
	isKind := map[[2]string]bool{} // by group and name
	for _, p := range packages {
		if r.own[p.src] || s.cfg.Strict && p.wildcard && p.src.internal() {
			continue // servers have internal types above the folders of versions
		}
		r.own[p.src] = true
		p.src.undeferText("", "\ntype ")
		pkg := r.pkg(p.src)
		r.crds.Packages = append(r.crds.Packages, pkg)
		if pkg.Skip {
			continue
		}
		for _, decl := range p.src.declarations() {
			t := r.describe(decl)
			r.crds.types[t.TypeName] = t
			declared = append(declared, t)
			if t.isObject() {
				isKind[[2]string{pkg.Group, t.Name}] = true
			}
		}
	}
	var kinds []TypeName
	for _, t := range declared {
		// A version may be declared as another one: type Route v1.Route.
		if pkg := t.Package; isKind[[2]string{pkg.Group, t.Name}] {
			pkg.Kinds = append(pkg.Kinds, t)
			kinds = append(kinds, t.TypeName)
		}
	}
	r.readReachable(kinds)
	r.crds.Problems = r.Reporter.Problems
	slices.SortFunc(r.crds.Packages, func(a, b *CRDPackage) int { return strings.Compare(a.Path, b.Path) })
	return r.crds
}

// declarations are the types of the parsed files, in order.
func (s *source) declarations() []*typeDecl {
	var decls []*typeDecl
	for spec := range s.specs(token.TYPE) {
		if decl := s.types[spec.(*ast.TypeSpec).Name.Name]; decl != nil && decl.spec == spec {
			decls = append(decls, decl)
		}
	}
	return decls
}

// isObject reports whether a type is a struct that embeds TypeMeta and ObjectMeta.
func (t *CRDType) isObject() bool {
	embeds := func(name string) bool {
		return slices.ContainsFunc(t.Fields, func(f *CRDField) bool {
			return f.Name == "" && f.Type.Form == Named && f.Type.Name == TypeName{metav1Path, name}
		})
	}
	return embeds("TypeMeta") && embeds("ObjectMeta")
}

const metav1Path = "k8s.io/apimachinery/pkg/apis/meta/v1"

// readReachable reads the types that are reachable from kinds, breadth first, so that the packages of each
// round are found with one call of the go command.
func (r *crdReader) readReachable(kinds []TypeName) {
	seen := map[TypeName]bool{}
	for _, name := range kinds {
		seen[name] = true
	}
	for frontier := kinds; len(frontier) > 0; {
		var paths []string
		for _, name := range frontier {
			paths = append(paths, name.Path)
		}
		slices.Sort(paths)
		r.need(slices.Compact(paths)...)
		var next []TypeName
		for _, name := range frontier {
			t := r.crds.types[name]
			if p := r.byPath[name.Path]; t == nil && p != nil && !r.pkg(p).Skip {
				if decl := p.typ(name.Name); decl != nil {
					t = r.describe(decl)
					r.crds.types[name] = t
				}
			}
			if t == nil {
				continue
			}
			t.references(func(n TypeName) {
				if !seen[n] {
					seen[n] = true
					next = append(next, n)
				}
			})
		}
		frontier = next
	}
	for name := range seen { // last, as embedded types count, too
		if t := r.crds.types[name]; t != nil {
			t.Marshaler, _ = r.marshaler(name)
		}
	}
}

// knownCRDTypes are the types whose schemas are known without their declarations, by import path.
var knownCRDTypes = map[string][]string{
	metav1Path:                             {"ObjectMeta", "Time", "MicroTime", "Duration", "Fields"},
	metav1Path + "/unstructured":           {"Unstructured"},
	"k8s.io/apimachinery/pkg/api/resource": {"Quantity"},
	"k8s.io/apimachinery/pkg/runtime":      {"RawExtension"},
	"k8s.io/apimachinery/pkg/util/intstr":  {"IntOrString"},
	apiextensionsPath + "/v1":              {"JSON"},
	apiextensionsPath + "/v1beta1":         {"JSON"},
}

const apiextensionsPath = "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"

// KnownCRDType reports whether the schema of a type is known without its declaration.
func KnownCRDType(name TypeName) bool { return slices.Contains(knownCRDTypes[name.Path], name.Name) }

// references yields the types that the definition of a type depends on.
func (t *CRDType) references(yield func(TypeName)) {
	visit := func(name TypeName) {
		if !KnownCRDType(name) {
			yield(name)
		}
	}
	t.Expr.names(visit)
	for _, f := range t.Fields {
		schemaless := marker.HasCRD(f.Markers, "kubebuilder:validation:Schemaless")
		if f.Tagged && !f.Ignored && !schemaless && (f.Name == "" || token.IsExported(f.Name)) {
			f.Type.names(visit)
		}
	}
}

// commentsOf returns the comments of a file, cached.
func (r *crdReader) commentsOf(f *file) *marker.CRDComments {
	comments, ok := r.files[f]
	if !ok {
		comments = marker.NewCRDComments(f.syntax)
		r.files[f] = comments
	}
	return comments
}

// pkg returns a package, cached.
func (r *crdReader) pkg(p *source) *CRDPackage {
	if pkg, ok := r.packages[p]; ok {
		return pkg
	}
	pkg := &CRDPackage{Path: p.path, Dir: p.dir, Version: p.name}
	r.packages[p] = pkg
	given := map[string]marker.CRDMarker{}
	for _, f := range p.files {
		if f.syntax == nil {
			continue
		}
		if !pkg.Pos.IsValid() || filepath.Base(f.path) == "doc.go" {
			pkg.Pos = r.fset.Position(f.syntax.Package)
		}
		for _, m := range r.markers(p, r.commentsOf(f).Package, marker.OnPackage) {
			if _, ok := given[m.Name]; !ok {
				given[m.Name] = m
			} else if m.Value != given[m.Name].Value && r.own[p] {
				r.Reporter.StrictErrorf(m.Pos, "+%s is given twice, first at %v (%v), which counts; remove one", m.Name,
					given[m.Name].Pos, given[m.Name].Value)
			}
		}
	}
	if group, ok := given["groupName"]; ok {
		pkg.Group, pkg.HasGroup, pkg.Pos = group.Value.(string), true, group.Pos
	}
	if version, ok := given["versionName"]; ok {
		pkg.Version = version.Value.(string)
	}
	_, pkg.Skip = given["kubebuilder:skip"]
	_, pkg.Optional = given["kubebuilder:validation:Optional"]
	return pkg
}

// describe returns the declared type.
func (r *crdReader) describe(decl *typeDecl) *CRDType {
	p, f, spec := decl.pkg, decl.file, decl.spec
	comments := r.commentsOf(f)
	owned, doc := comments.Type(spec)
	t := &CRDType{TypeName: TypeName{p.path, decl.name}, Package: r.pkg(p),
		Pos: r.fset.Position(spec.Name.Pos()), Alias: spec.Assign.IsValid(),
		Doc: marker.CRDDoc(doc), Markers: r.markers(p, owned, marker.OnType)}
	if spec.TypeParams != nil {
		for _, params := range spec.TypeParams.List {
			for _, n := range params.Names {
				t.Params = append(t.Params, n.Name)
			}
		}
	}
	if marker.HasCRD(t.Markers, "k8s:enum") {
		t.Values = p.stringsOf(decl.name)
	}
	st, ok := spec.Type.(*ast.StructType)
	if !ok {
		t.Expr = r.exprs.expr(p, f, spec.Type, spec.TypeParams)
		return t
	}
	lines := comments.Fields(st.Fields)
	for i, field := range st.Fields.List {
		read := CRDField{Pos: r.fset.Position(field.Pos()), Doc: marker.CRDDoc(field.Doc),
			Markers: r.markers(p, lines[i], marker.OnField), Type: r.exprs.expr(p, f, field.Type, spec.TypeParams)}
		read.tag(field)
		if len(field.Names) == 0 {
			t.Fields = append(t.Fields, &read)
		}
		for _, n := range field.Names {
			named := read
			named.Name, named.Pos = n.Name, r.fset.Position(n.Pos())
			t.Fields = append(t.Fields, &named)
		}
	}
	return t
}

// tag reads the json tag.
func (f *CRDField) tag(field *ast.Field) {
	text, err := strconv.Unquote(tagText(field))
	if err != nil {
		return
	}
	var tag string
	tag, f.Tagged = reflect.StructTag(text).Lookup("json")
	options := strings.Split(tag, ",")
	f.Key = options[0]
	f.Ignored = tag == "-"
	f.Inline = f.Key == "" || slices.Contains(options[1:], "inline")
	f.Omitted = slices.Contains(options[1:], "omitempty") || slices.Contains(options[1:], "omitzero")
}

// stringsOf are the string literals among the constants of exactly the type of that name.
func (s *source) stringsOf(name string) []string {
	for _, f := range s.files {
		s.undeferFile(f, name)
	}
	var values []string
	for spec := range s.specs(token.CONST) {
		spec := spec.(*ast.ValueSpec)
		if ident, ok := spec.Type.(*ast.Ident); !ok || ident.Name != name {
			continue
		}
		for _, value := range spec.Values {
			if lit, ok := value.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				if text, err := strconv.Unquote(lit.Value); err == nil {
					values = append(values, text)
				}
			}
		}
	}
	return values
}

// markers parses the markers among lines, and reports those that can't be parsed. In packages of the run it
// also reports lines that must have been meant for markers.
func (r *crdReader) markers(p *source, lines []marker.CRDLine, on marker.Target) []marker.CRDMarker {
	var all []marker.CRDMarker
	for _, line := range lines {
		pos := r.fset.Position(line.At)
		pos.Offset = 0 // as in a marker.Tag, so that what both report is shown once
		name := marker.LookupCRD(line.Text, on)
		if name == "" {
			if problem, warning := marker.CRDHint(line.Text, on); problem != "" && r.own[p] {
				r.Reporter.Report(warning || !r.Reporter.Strict, pos, "%s", problem)
			}
			continue
		}
		m, offset, err := marker.ParseCRD(name, line.Text)
		if err != nil {
			pos.Column += 1 + offset
			r.Reporter.Errorf(pos, "+%s: %v", name, err)
			continue
		}
		m.Pos = pos
		all = append(all, m)
	}
	return all
}

// Instance returns a generic type with its parameters replaced by args, and any other type unchanged.
func (t *CRDType) Instance(args []*Expr) *CRDType {
	if len(args) == 0 || len(args) != len(t.Params) {
		return t
	}
	values := map[string]*Expr{}
	for i, param := range t.Params {
		values[param] = args[i]
	}
	instance := *t
	instance.Fields = nil
	instance.Expr = t.Expr.substitute(values)
	for _, f := range t.Fields {
		field := *f
		field.Type = f.Type.substitute(values)
		instance.Fields = append(instance.Fields, &field)
	}
	return &instance
}
