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

// File is one file to make.
type File struct {
	// Path says where it goes; two files may not share one.
	Path string
	// Package is the import path of the package that the file is part of: its
	// own identifiers are printed unqualified.
	Package string
	// Header is the text above the package clause. It ends in a blank line.
	Header string
	// Template names the template, View makes what it is a view of. Files are
	// made at the same time, and so are their views.
	Template string
	View     func() any
	// Reserved are identifiers that no import of the file may be called:
	// those that the package declares elsewhere.
	Reserved []string
}

// Templates is a set of parsed templates. It is safe for concurrent use.
type Templates struct{ set *template.Template }

// Parse reads all *.tmpl files in the folders of fsys; a template is called by
// its path. packages adds functions: each prints the name of its package, as in
// {{http}}.Client.
//
// Beside them templates have: tab, where gofmt aligns the rest of the line with
// the lines around it; reserve, which keeps imports from being called by the
// given names (of parameters, say); quote, for a string literal.
func Parse(fsys fs.FS, packages map[string]Package) (*Templates, error) {
	funcs := template.FuncMap{
		"tab":     func() string { return string(markColumn) },
		"article": article,
		"quote":   func(s string) string { return fmt.Sprintf("%q", s) },
		"reserve": reserve,
	}
	// What is always the same is put into the text before it is parsed: that
	// saves a fifth of the time. The functions are for all but the plain form.
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

// Render makes the files, on as many cores as there are, and returns their
// content by path. An error names the template; it is a mistake in a template
// or a view, never in what the user wrote.
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
			errs = append(errs, fmt.Errorf("%s: two templates make this file, the second is %s", f.Path, f.Template))
		}
		rendered[f.Path] = contents[i]
	}
	return rendered, errors.Join(errs...)
}

// render makes one file; body is scratch space.
func (t *Templates) render(body *bytes.Buffer, f File) ([]byte, error) {
	tmpl := t.set.Lookup(f.Template)
	if tmpl == nil {
		return nil, fmt.Errorf("%s: no template %s", f.Path, f.Template)
	}
	if err := tmpl.Execute(body, f.View()); err != nil {
		return nil, fmt.Errorf("%s: %w", path.Base(f.Path), err)
	}
	return assemble(f, body.Bytes()), nil
}

// article puts "a" or "an" before a name, by the sound of its first letter: that of
// U is mostly a consonant's, as in User.
func article(name string) string {
	if name != "" && strings.Contains("AEIOaeio", name[:1]) {
		return "an " + name
	}
	return "a " + name
}
