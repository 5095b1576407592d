package model

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"
	"k8s.io/gengo/v2"
	"k8s.io/gengo/v2/parser"
	"k8s.io/gengo/v2/types"

	"github.com/kubewright/kubewright/generators/internal/marker"
)

// TestOwnersAreGengos parses random arrangements of comments and declarations with gengo's own parser too,
// and expects the same tags for each type and for the package.
func TestOwnersAreGengos(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 7))
	var text strings.Builder
	text.WriteString("package p\n\n")
	for i := range 600 {
		arrange(&text, random, i)
	}
	dir := t.TempDir()
	write(t, filepath.Join(dir, "go.mod"), "module example.com/m\n\ngo 1.26\n")
	write(t, filepath.Join(dir, "p", "types.go"), text.String())
	write(t, filepath.Join(dir, "p", "doc.go"),
		"// +groupName=a\n// +one\n\n/* +two\n\t+three=x\n*/\n\n// +four=4\npackage p\n\n// +five=a=b\n\n"+
			"var x int // +six\n")

	p := parser.New()
	if err := p.LoadPackagesWithConfigForTesting(&packages.Config{Dir: dir}, "./p"); err != nil {
		t.Fatal(err)
	}
	universe, err := p.NewUniverse()
	if err != nil {
		t.Fatal(err)
	}
	want := universe.Package("example.com/m/p")

	l := newSession(t.Context(), Config{Dir: dir, Inputs: []Input{{Pattern: "./p"}}})
	found := l.parse(l.find())
	if len(l.Problems) > 0 {
		t.Fatal(l.Problems)
	}
	src := found[0].src
	owned := 0
	for _, f := range src.files {
		tags := l.typeTags(f)
		for name, decl := range src.types {
			if decl.file != f {
				continue
			}
			upstream := want.Types[name]
			//lint:ignore SA1019 it is what upstream reads the tags of types with
			expected := gengo.ExtractCommentTags("+",
				append(slices.Clone(upstream.SecondClosestCommentLines), upstream.CommentLines...))
			got := map[string][]string{}
			for _, tag := range tags[name] {
				got[tag.Name] = append(got[tag.Name], tag.Value)
			}
			if !maps.EqualFunc(got, expected, slices.Equal) {
				t.Errorf("type %s: got tags %v, gengo has %v", name, got, expected)
			}
			owned += len(got)
		}
		if f.isDoc() {
			var got []string
			for _, tag := range marker.ScanPackage(l.fset, f.syntax.Comments...) {
				got = append(got, tag.Text)
			}
			if expected := plusLines(want); !slices.Equal(got, expected) {
				t.Errorf("package: got tags %q, gengo has %q", got, expected)
			}
		}
	}
	if len(src.types) < 500 || owned < 200 {
		t.Errorf("only %d types with %d tags: the test tests little", len(src.types), owned)
	}
}

// plusLines returns the lines of a package's comments that are tags.
func plusLines(p *types.Package) []string {
	var lines []string
	for _, line := range p.Comments {
		if rest, ok := strings.CutPrefix(strings.TrimLeft(line, " \t"), "+"); ok {
			lines = append(lines, rest)
		}
	}
	return lines
}

// arrange writes one random piece of a file: comments, blank lines, a declaration.
func arrange(b *strings.Builder, random *rand.Rand, i int) {
	comment := func(indent string) {
		for n := range random.IntN(3) {
			switch random.IntN(6) {
			case 0:
				fmt.Fprintf(b, "%s/* +block%d=%d\n%s   +second\n%s\t+tab */\n", indent, i, n, indent, indent)
			case 1:
				fmt.Fprintf(b, "%s//+tight%d\n", indent, i)
			case 2:
				fmt.Fprintf(b, "%s//go:generate +not\n%s//  +wide = %d  \n", indent, indent, n)
			default:
				fmt.Fprintf(b, "%s// +tag%d:x=%d,y=z\n%s// words\n", indent, i, n, indent)
			}
			b.WriteString(strings.Repeat("\n", random.IntN(3)))
		}
	}
	comment("")
	switch random.IntN(6) {
	case 0:
		b.WriteString("type (\n")
		for n := range 1 + random.IntN(3) {
			comment("\t")
			fmt.Fprintf(b, "\tG%d_%d struct{}\n", i, n)
		}
		b.WriteString(")\n")
	case 1:
		fmt.Fprintf(b, "var v%d int // +trailing%d\n", i, i)
	default:
		fmt.Fprintf(b, "type T%d struct {\n", i)
		comment("\t")
		b.WriteString("\tX int\n}\n")
	}
	b.WriteString(strings.Repeat("\n", random.IntN(3)))
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
