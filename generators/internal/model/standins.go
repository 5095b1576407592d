package model

import (
	"embed"
	"go/token"
)

// standInFiles declare the types of apimachinery and of package time that API types consist of: their
// fields, their markers, and their methods for OpenAPI and for JSON. With them most packages need no second
// call of the go command, and apimachinery needn't be downloaded. TestStandIns fails when a copy is out of
// date.
//
//go:embed standins/*.go.txt
var standInFiles embed.FS

// standInPaths are the import paths of the files.
var standInPaths = map[string]string{
	"metav1":   "k8s.io/apimachinery/pkg/apis/meta/v1",
	"runtime":  "k8s.io/apimachinery/pkg/runtime",
	"resource": "k8s.io/apimachinery/pkg/api/resource",
	"intstr":   "k8s.io/apimachinery/pkg/util/intstr",
	"types":    "k8s.io/apimachinery/pkg/types",
	"time":     "time",
}

// standIns parses the files.
func standIns(fset *token.FileSet) map[string]*source {
	sources := map[string]*source{}
	for file, path := range standInPaths {
		name := "standins/" + file + ".go.txt"
		text, err := standInFiles.ReadFile(name)
		if err != nil {
			panic(err) // the file is embedded
		}
		s := newSource(listed{ImportPath: path, Name: file}, fset, "")
		f := newFile("", name, "", false)
		f.text = text
		f.parse(fset)
		s.files = append(s.files, f)
		s.index(f)
		sources[path] = s
	}
	return sources
}
