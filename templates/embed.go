// Package templates has the templates of the generated code. The first line of each names the
// struct of package generators that it prints.
//
// {{metav1}}, {{cache}} and the like print the name of an imported package and thereby import
// it. {{tab}} marks where gofmt aligns columns. See package render.
//
// gofmt must not change the output of a template, since nothing formats it afterwards; a test of
// package generators checks that. Only the output of types/ is formatted.
package templates

import "embed"

// Files are the templates. client-gen uses client/, scheme/ and fake/, lister-gen lister/,
// informer-gen informer/, and applyconfiguration-gen applyconfig/; all four use shared/, which has
// definitions only. deepcopy-gen uses deepcopy/, register-gen register/, and defaulter-gen defaulter/.
// kubewright import and init use types/, and format the output.
//
//go:embed */*.tmpl
var Files embed.FS
