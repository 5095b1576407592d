// Package templates contains the templates of generated code. The first line of each names the struct of
// package generators that it prints.
//
// {{metav1}}, {{cache}} and the like print the name of a package and import it. {{tab}} marks a column that
// gofmt aligns. See package render.
//
// The output of a template is not formatted afterwards, except that of types/. So gofmt must not change it,
// and its lines must have at most 110 columns if names have usual lengths; package generators tests both.
package templates

import "embed"

// Files are the templates. client-gen uses client/, scheme/ and fake/, lister-gen lister/,
// informer-gen informer/, and applyconfiguration-gen applyconfig/; all four use shared/, which has
// definitions only. deepcopy-gen uses deepcopy/, register-gen register/, and defaulter-gen defaulter/.
// kubewright import and init use types/, and format the output.
//
//go:embed */*.tmpl
var Files embed.FS
