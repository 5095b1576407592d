// Package templates has the templates of the generated code. The first line of each names the
// struct of package generators that it prints.
//
// {{metav1}}, {{cache}} and the like print the name of an imported package and thereby import
// it. {{tab}} marks where gofmt aligns columns. See package render.
//
// What a template prints must not change under gofmt, since nothing formats it afterwards; a
// test of package generators checks that.
package templates

import "embed"

// Files are the templates. client-gen uses client/, scheme/ and fake/; lister-gen, informer-gen
// and applyconfiguration-gen use lister/, informer/ and applyconfig/, deepcopy-gen, register-gen and
// defaulter-gen deepcopy/, register/ and defaulter/. The first four use shared/, which has definitions
// only.
// kubewright import and init use types/, and format what that prints.
//
//go:embed */*.tmpl
var Files embed.FS
