// Command builtins writes the table of package informers, informers/table.go: the methods of its factory by
// group, and for each group a line for each of its resources. It parses client-go's informers, in the version
// that go.mod requires, without compiling them. So it also works if the table is older than client-go and
// doesn't compile.
//
//	go generate ./informers
//
// Its argument is the file to write.
package main

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "builtins:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 1 {
		return errors.New("the argument is the file to write")
	}
	table, err := generate()
	if err != nil {
		return err
	}
	return os.WriteFile(args[0], table, 0o644)
}

// generate returns the text of the table.
func generate() ([]byte, error) {
	// Without -m, the go command downloads the module if it isn't there.
	out, err := exec.Command("go", "list", "-find", "-f", "{{.Dir}}", "k8s.io/client-go/informers").Output()
	if err != nil {
		return nil, fmt.Errorf("find client-go: %w", err)
	}
	informers := strings.TrimSpace(string(out))
	groups, err := readGroups(filepath.Join(informers, "factory.go"))
	if err != nil {
		return nil, err
	}
	resources, err := readResources(informers)
	if err != nil {
		return nil, err
	}
	return write(groups, resources)
}

// group is a method of client-go's factory that returns the informers of a group.
type group struct{ method, path string }

// table is the name of the variable that has the group's types.
func (g group) table() string { return strings.ToLower(g.method) + "Types" }

// readGroups reads the methods of the factory's interface that return an Interface.
func readGroups(name string) (groups []group, err error) {
	file, imports, err := parse(name)
	if err != nil {
		return nil, err
	}
	for _, decl := range file.Decls {
		f, ok := decl.(*ast.FuncDecl)
		if !ok || f.Recv == nil || f.Type.Results == nil || len(f.Type.Results.List) != 1 {
			continue
		}
		result, ok := f.Type.Results.List[0].Type.(*ast.SelectorExpr)
		if !ok || result.Sel.Name != "Interface" {
			continue
		}
		groups = append(groups, group{f.Name.Name, imports[nameOf(result.X)]})
	}
	if len(groups) == 0 {
		return nil, fmt.Errorf("%s: no groups", name)
	}
	return groups, nil
}

// resource is a resource for which client-go's factory has an informer.
type resource struct {
	name     string // deployments
	kind     string // Deployment
	apiGroup string // apps
	api      string // k8s.io/api/apps/v1
	// group, version and plural are the methods that return its informer: Apps, V1, Deployments.
	group, version, plural string
	namespaced             bool
}

// alias returns the name by which the table imports the API.
func (r resource) alias() string { return path.Base(path.Dir(r.api)) + path.Base(r.api) }

// readResources reads the switch of client-go's ForResource, whose cases are
//
//	case corev1.SchemeGroupVersion.WithResource("pods"):
//		return &genericInformer{..., informer: f.Core().V1().Pods().Informer()}, nil
func readResources(informers string) (resources []resource, err error) {
	name := filepath.Join(informers, "generic.go")
	file, imports, err := parse(name)
	if err != nil {
		return nil, err
	}
	ast.Inspect(file, func(n ast.Node) bool {
		c, ok := n.(*ast.CaseClause)
		if !ok || err != nil {
			return err == nil
		}
		var r resource
		if r, err = readCase(c, imports); err != nil {
			err = fmt.Errorf("%s: %w", name, err)
			return false
		}
		if err = r.readKind(informers); err == nil {
			resources = append(resources, r)
		}
		return false
	})
	if err == nil && len(resources) == 0 {
		err = fmt.Errorf("%s: no resources", name)
	}
	return resources, err
}

func readCase(c *ast.CaseClause, imports map[string]string) (r resource, err error) {
	if len(c.List) != 1 {
		return r, errors.New("a case doesn't have exactly one resource")
	}
	call, ok := c.List[0].(*ast.CallExpr)
	if !ok || nameOf(call.Fun) != "WithResource" || len(call.Args) != 1 {
		return r, errors.New("a case isn't a call of WithResource")
	}
	literal, ok := call.Args[0].(*ast.BasicLit)
	if !ok {
		return r, errors.New("a resource isn't a literal")
	}
	if r.name, err = strconv.Unquote(literal.Value); err != nil {
		return r, err
	}
	r.api = imports[nameOf(receiver(receiver(call.Fun)))]
	for _, body := range c.Body {
		for _, informer := range fields(body, "informer") {
			plural := receiver(informer)
			version := receiver(plural)
			r.plural, r.version, r.group = nameOf(plural), nameOf(version), nameOf(receiver(version))
		}
	}
	if r.api == "" || r.group == "" {
		return r, fmt.Errorf("the case of %s isn't understood", r.name)
	}
	return r, nil
}

// readKind reads what only the files of the resource's version say: in one the method that
// returns its informer,
//
//	func (v *version) Pods() TypedPodInformer {
//		return &podInformer{factory: v.factory, namespace: v.namespace, tweakListOptions: v.tweakListOptions}
//	}
//
// and in another the name of the group:
//
//	gvr := schema.GroupVersionResource{Group: "", Version: "v1", Resource: "pods"}
func (r *resource) readKind(informers string) error {
	dir := filepath.Join(informers, path.Base(path.Dir(r.api)), path.Base(r.api))
	file, _, err := parse(filepath.Join(dir, "interface.go"))
	if err != nil {
		return err
	}
	for _, decl := range file.Decls {
		f, ok := decl.(*ast.FuncDecl)
		if !ok || f.Recv == nil || f.Name.Name != r.plural {
			continue
		}
		kind := nameOf(f.Type.Results.List[0].Type)
		r.kind = strings.TrimSuffix(strings.TrimPrefix(kind, "Typed"), "Informer")
		r.namespaced = len(fields(f.Body, "namespace")) > 0
	}
	if file, _, err = parse(filepath.Join(dir, strings.ToLower(r.kind)+".go")); err != nil {
		return err
	}
	groups := fields(file, "Group")
	if len(groups) != 1 {
		return fmt.Errorf("%s: %d names of groups", dir, len(groups))
	}
	literal, ok := groups[0].(*ast.BasicLit)
	if !ok {
		return fmt.Errorf("%s: the name of the group isn't a literal", dir)
	}
	r.apiGroup, err = strconv.Unquote(literal.Value)
	return err
}

// fields returns the values of the fields of a name in composite literals.
func fields(n ast.Node, name string) (values []ast.Expr) {
	ast.Inspect(n, func(n ast.Node) bool {
		if field, ok := n.(*ast.KeyValueExpr); ok && nameOf(field.Key) == name {
			values = append(values, field.Value)
		}
		return true
	})
	return values
}

// write writes the table.
func write(groups []group, resources []resource) ([]byte, error) {
	var b bytes.Buffer
	b.WriteString("// Code generated by internal/builtins. DO NOT EDIT.\n\npackage informers\n\nimport (\n")
	imports := map[string]string{} // alias by path
	for _, g := range groups {
		imports[g.path] = ""
	}
	for _, r := range resources {
		imports[r.api] = r.alias() + " "
	}
	for _, p := range slices.Sorted(maps.Keys(imports)) {
		fmt.Fprintf(&b, "\t%s%q\n", imports[p], p)
	}
	b.WriteString(")\n")
	b.WriteString("\n// builtIns has the types of each group.\nvar builtIns = [][]builtIn{\n")
	for _, g := range groups {
		fmt.Fprintf(&b, "\t%s,\n", g.table())
	}
	b.WriteString("}\n")
	for _, g := range groups {
		fmt.Fprintf(&b, `
// %[1]s returns the informers of group %[2]s by version.
func (f *sharedInformerFactory) %[1]s() %[2]s.Interface {
	return %[2]s.New(group{f, %[3]s}, f.namespace, f.tweakListOptions)
}

var %[3]s = []builtIn{
`, g.method, path.Base(g.path), g.table())
		for _, r := range resources {
			if r.group == g.method {
				r.write(&b)
			}
		}
		b.WriteString("}\n")
	}
	return format.Source(b.Bytes())
}

// write writes a line of the table.
func (r resource) write(b *bytes.Buffer) {
	fmt.Fprintf(b, "\t{%q, %q, %q, (*%s.%s)(nil), ", r.apiGroup, path.Base(r.api), r.name, r.alias(), r.kind)
	client := "nil, func(c set) lists { return adaptClient(c.%s%s().%s()) }},\n"
	if r.namespaced {
		client = "func(c set, ns string) lists { return adaptClient(c.%s%s().%s(ns)) }, nil},\n"
	}
	fmt.Fprintf(b, client, r.group, r.version, r.plural)
}

// parse returns a parsed file, and its imports: the paths by the names that it uses.
func parse(name string) (file *ast.File, imports map[string]string, err error) {
	file, err = parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
	if err != nil {
		return nil, nil, err
	}
	imports = map[string]string{}
	for _, spec := range file.Imports {
		p, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return nil, nil, err
		}
		local := path.Base(p)
		if spec.Name != nil {
			local = spec.Name.Name
		}
		imports[local] = p
	}
	return file, imports, nil
}

// nameOf returns the last name of an expression: Pods of f.Core().V1().Pods().
func nameOf(x ast.Expr) string {
	switch x := x.(type) {
	case *ast.Ident:
		return x.Name
	case *ast.SelectorExpr:
		return x.Sel.Name
	case *ast.CallExpr:
		return nameOf(x.Fun)
	}
	return ""
}

// receiver returns the expression on which a method is called or a field is selected: f.Core().V1() of
// f.Core().V1().Pods().
func receiver(x ast.Expr) ast.Expr {
	switch x := x.(type) {
	case *ast.SelectorExpr:
		return x.X
	case *ast.CallExpr:
		return receiver(x.Fun)
	}
	return nil
}
