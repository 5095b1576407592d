package model

import (
	"bytes"
	"go/ast"
	"go/parser"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kubewright/kubewright/generators/internal/marker"
)

// checkOnly warns of a package whose only +genclient is in a comment that no type owns. kube_codegen.sh,
// which looks for the word, has a client for the group and version of such a package, and so does kubewright.
func (r *kindReader) checkOnly(p *candidate) {
	tag, ok := r.clientTag(p.src)
	if !ok || !r.cfg.Strict || !r.cfg.has(Clients) || len(p.kinds) > 0 || !p.pkg.Client ||
		!p.pkg.HasAddToScheme {
		return
	}
	at := func(problem marker.Problem) bool { return problem.Pos == tag.Pos }
	if i := slices.IndexFunc(r.Problems, at); i < 0 || !r.Problems[i].Warning {
		return // an alias, for instance
	}
	p.only = true
	r.Problems = slices.DeleteFunc(r.Problems, at)
	r.Warnf(tag.Pos, "no type owns this +genclient, so the clientset has a client of package %s without any "+
		"kinds; put it above a type, or remove it", p.src.path)
}

// checkExcluded warns of kinds in files that the go command leaves out: tests, and files with a build
// constraint or the name of a platform.
func (r *kindReader) checkExcluded(p *candidate) {
	var files []*file
	for _, f := range p.src.files {
		if f.ignored && f.syntax == nil && f.read() && !f.generatedHere() {
			files = append(files, f)
		}
	}
	for _, name := range slices.Concat(p.listed.TestGoFiles, p.listed.XTestGoFiles) {
		files = append(files, newFile(p.src.dir, name, r.base, true))
	}
	for _, f := range files {
		if !f.read() || !bytes.Contains(f.text, []byte("+genclient")) {
			continue
		}
		syntax, err := parser.ParseFile(r.fset, f.name, f.text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			continue
		}
		why := "a build constraint, or the name of the file, leaves it out"
		if strings.HasSuffix(f.name, "_test.go") {
			why = "the file is a test"
		}
		for name, tags := range ownedTags(r.fset, syntax, func(*ast.CommentGroup) {}) {
			i := slices.IndexFunc(tags, func(t marker.Tag) bool { return t.Name == "genclient" })
			if i < 0 || p.src.types[name] != nil {
				continue
			}
			r.Warnf(tags[i].Pos, "type %s gets no client: %s; move the type to another file of the package, or "+
				"remove the tag from %s", name, why, filepath.Base(f.name))
		}
	}
}
