package templates_test

import (
	"fmt"
	"strings"

	"github.com/kubewright/kubewright/templates"
)

// The first line of a template names its view, a struct of package generators.
func Example() {
	text, err := templates.Files.ReadFile("lister/kind.tmpl")
	first, _, _ := strings.Cut(string(text), "\n")
	fmt.Println(first, err)
	// Output: {{- /* A kindListerView. */ -}} <nil>
}
