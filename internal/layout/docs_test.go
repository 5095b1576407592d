package layout

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// documented are the folders of the packages whose names the Markdown files use. The facades aren't among
// them, because the files also call other packages cache.
var documented = map[string]string{
	"client": "runtime/client", "factory": "runtime/factory", "informer": "runtime/informer",
	"kwsharding": "contrib/controller-runtime/kwsharding", "lister": "runtime/lister",
	"listwatch": "runtime/listwatch", "namespaces": "runtime/factory/namespaces",
	"partial": "runtime/shard/partial", "queue": "runtime/queue", "runtimetest": "runtime/runtimetest",
	"sharding": "sharding", "shardingtest": "sharding/shardingtest",
}

var (
	// qualified matches a name of a package, and a field or method of that name, if any.
	qualified = regexp.MustCompile(
		`(?:^|[^\w./])(` + strings.Join(slices.Collect(maps.Keys(documented)), "|") +
			`)\.([A-Z]\w*)(?:\.([A-Z]\w*))?`)
	// member matches a type without its package, and its field or method.
	member = regexp.MustCompile(`(?:^|[^\w./])([A-Z]\w*)\.([A-Z]\w*)`)
)

// TestDocs checks that each pkg.Name of these packages and each Type.Member that a Markdown file
// mentions exists.
func TestDocs(t *testing.T) {
	packages := map[string]names{}
	anyOf := names{top: map[string]bool{}, members: map[string]map[string]bool{}}
	for name, folder := range documented {
		packages[name] = declared(t, filepath.Join("..", "..", folder))
		for typ, members := range packages[name].members {
			for m := range members {
				anyOf.add(typ, m)
			}
		}
	}
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	designs, err := filepath.Glob("../../docs/designs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	pages = append(pages, designs...)
	pages = append(pages, "../../README.md", "../../CONTRIBUTING.md", "../../SECURITY.md", "../../CHANGELOG.md",
		"../../runtime/README.md",
		"../../examples/README.md", "../../examples/tour/README.md")
	found := 0
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		var fenced, oldNames bool
		for i, line := range strings.Split(string(text), "\n") {
			switch {
			case strings.HasPrefix(strings.TrimSpace(line), "```"):
				fenced = !fenced
			case strings.HasPrefix(line, "## "):
				oldNames = filepath.Base(page) == "CHANGELOG.md" && line == "## Names that changed"
			}
			if cells := strings.SplitN(line, "|", 3); oldNames && len(cells) == 3 {
				line = cells[2]
			}
			code := fenced || strings.HasPrefix(line, "    ")
			for _, m := range qualified.FindAllStringSubmatch(line, -1) {
				found++
				of := packages[m[1]]
				// In code, a variable may have the name of its type's package.
				if !of.top[m[2]] && !(code && of.isMember(m[2])) {
					t.Errorf("%s:%d: package %s has no exported %s", page, i+1, m[1], m[2])
				} else if m[3] != "" && of.top[m[2]] && !of.members[m[2]][m[3]] {
					t.Errorf("%s:%d: %s.%s has no %s", page, i+1, m[1], m[2], m[3])
				}
			}
			for _, m := range member.FindAllStringSubmatch(line, -1) {
				// Options is also a type of envtest/apiserver.
				if members := anyOf.members[m[1]]; m[1] != "Options" && members != nil && !members[m[2]] {
					t.Errorf("%s:%d: no %s has a %s", page, i+1, m[1], m[2])
				}
			}
		}
	}
	if found < 60 {
		t.Errorf("the pages mention only %d names", found)
	}
}

// names are the exported names of a package: those at its top level, and the fields and methods of each type.
type names struct {
	top     map[string]bool
	members map[string]map[string]bool
}

func (n names) add(typ, member string) {
	if n.members[typ] == nil {
		n.members[typ] = map[string]bool{}
	}
	n.members[typ][member] = true
}

func (n names) isMember(name string) bool {
	for _, members := range n.members {
		if members[name] {
			return true
		}
	}
	return false
}

func declared(t *testing.T, dir string) names {
	found := names{top: map[string]bool{}, members: map[string]map[string]bool{}}
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range file.Decls {
			switch decl := decl.(type) {
			case *ast.FuncDecl:
				if decl.Recv == nil {
					found.top[decl.Name.Name] = true
				} else {
					found.add(receiver(decl.Recv.List[0].Type), decl.Name.Name)
				}
			case *ast.GenDecl:
				for _, spec := range decl.Specs {
					switch spec := spec.(type) {
					case *ast.TypeSpec:
						found.top[spec.Name.Name] = true
						found.addFields(spec)
					case *ast.ValueSpec:
						for _, name := range spec.Names {
							found.top[name.Name] = true
						}
					}
				}
			}
		}
	}
	return found
}

func (n names) addFields(spec *ast.TypeSpec) {
	var fields *ast.FieldList
	switch typ := spec.Type.(type) {
	case *ast.StructType:
		fields = typ.Fields
	case *ast.InterfaceType:
		fields = typ.Methods
	default:
		return
	}
	for _, field := range fields.List {
		for _, name := range field.Names {
			n.add(spec.Name.Name, name.Name)
		}
	}
}

// receiver returns the name of the type of a method's receiver.
func receiver(typ ast.Expr) string {
	for {
		switch x := typ.(type) {
		case *ast.StarExpr:
			typ = x.X
		case *ast.IndexExpr:
			typ = x.X
		case *ast.IndexListExpr:
			typ = x.X
		case *ast.Ident:
			return x.Name
		default:
			return ""
		}
	}
}
