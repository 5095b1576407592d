package render

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"text/template"
)

// File is a file to render.
type File struct {
	// Path is the path of the file. It must be unique among the files of a call.
	Path string
	// Package is the import path of the file's package, whose own identifiers are
	// printed without a qualifier.
	Package string
	// Header is the text above the package clause. It ends in a blank line.
	Header string
	// Template is the name of the template, View builds the value that it prints. Both
	// run concurrently with those of other files.
	Template string
	View     func() any
	// Reserved are names that no import of the file may have: identifiers that other
	// files of the package declare.
	Reserved []string
	// NamesImports writes each import with its name, even if that is the same as the path.
	NamesImports bool
}

// Templates is a set of parsed templates. It is safe for concurrent use.
type Templates struct{ set *template.Template }

// Parse parses the *.tmpl files in the folders of fsys. The name of a template is its path.
// packages become functions that print the name of the package, as in {{http}}.Client.
//
// Templates also have the functions tab, where gofmt aligns the rest of the line with
// adjacent lines; reserve, which keeps imports from getting the given names, such as those of
// parameters; quote, for a string literal; and article, for "a" or "an" before a name.
func Parse(fsys fs.FS, packages map[string]Package) (*Templates, error) {
	funcs := template.FuncMap{
		"tab":     func() string { return string(markColumn) },
		"article": article,
		"quote":   func(s string) string { return fmt.Sprintf("%q", s) },
		"reserve": reserve,
	}
	// {{http}} and the like are replaced in the source of the templates, which makes
	// rendering a fifth faster. The functions remain for other forms, as in
	// {{print http ".Client"}}.
	replacements := []string{"{{tab}}", string(markColumn)}
	for name, pkg := range packages {
		mark := pkg.String()
		funcs[name] = func() string { return mark }
		replacements = append(replacements, "{{"+name+"}}", mark)
	}
	constant := strings.NewReplacer(replacements...)
	names, err := fs.Glob(fsys, "*/*.tmpl")
	if err != nil {
		return nil, err
	}
	set := template.New("").Funcs(funcs).Option("missingkey=error")
	for _, name := range names {
		text, err := fs.ReadFile(fsys, name)
		if err != nil {
			return nil, err
		}
		if _, err := set.New(name).Parse(constant.Replace(string(text))); err != nil {
			return nil, err
		}
	}
	return &Templates{set: set}, nil
}

// reserve returns the marks that reserve names.
func reserve(names ...string) string {
	var b bytes.Buffer
	for _, name := range names {
		b.WriteByte(mark)
		b.WriteByte(markReserve)
		b.WriteString(name)
		b.WriteByte(markEnd)
	}
	return b.String()
}

// Render renders the files, in parallel, and returns their contents by path. An error is a
// bug of a template or of a view, whatever the input is, and names the file.
func (t *Templates) Render(files []File) (map[string][]byte, error) {
	contents := make([][]byte, len(files))
	errs := make([]error, len(files))
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(files)) {
		workers.Go(func() {
			var body bytes.Buffer
			for i := next.Add(1) - 1; i < int64(len(files)); i = next.Add(1) - 1 {
				body.Reset()
				contents[i], errs[i] = t.render(&body, files[i])
			}
		})
	}
	workers.Wait()

	rendered := make(map[string][]byte, len(files))
	for i, f := range files {
		if _, ok := rendered[f.Path]; ok {
			errs = append(errs, fmt.Errorf("%s: two templates render this file; the second one is %s",
				f.Path, f.Template))
		}
		rendered[f.Path] = contents[i]
	}
	return rendered, errors.Join(errs...)
}

// render renders a file. body is scratch space.
func (t *Templates) render(body *bytes.Buffer, f File) ([]byte, error) {
	tmpl := t.set.Lookup(f.Template)
	if tmpl == nil {
		return nil, fmt.Errorf("%s: there is no template %s", f.Path, f.Template)
	}
	if err := tmpl.Execute(body, f.View()); err != nil {
		return nil, fmt.Errorf("%s: %w", path.Base(f.Path), err)
	}
	return assemble(f, body.Bytes()), nil
}

// article returns the name with "a" or "an" before it, by the sound of its first letter. A U
// usually sounds like a consonant, as in User.
func article(name string) string {
	if name != "" && strings.Contains("AEIOaeio", name[:1]) {
		return "an " + name
	}
	return "a " + name
}
