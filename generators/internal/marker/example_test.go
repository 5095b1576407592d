package marker_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"

	"github.com/kubewright/kubewright/generators/internal/marker"
)

// The tags above a type become values; mistakes become problems with positions.
func Example() {
	const source = `package v1

// Market is where bakeries are.
// +genclient
// +genclient:nonNamespaced
// +genclient:onlyVerbs=get,lisst
type Market struct{}
`
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, "types.go", source, parser.ParseComments)
	if err != nil {
		fmt.Println(err)
		return
	}
	comment := file.Decls[0].(*ast.GenDecl).Doc
	client, problems := marker.ParseClient(marker.Scan(files, comment), true)
	fmt.Println("client:", client.Generate, "namespaced:", !client.NonNamespaced)
	for _, problem := range problems {
		fmt.Println(problem)
	}
	// Output:
	// client: true namespaced: false
	// types.go:6:29: unknown verb "lisst" in +genclient:onlyVerbs; did you mean "list"?
}
