// Package templates holds what the generators' output looks like. Each template
// says in its first line which struct of package generators it is a view of.
//
// {{metav1}}, {{cache}} and the like print the name of an imported package and
// thereby import it; tab marks where gofmt aligns columns. See package render.
package templates

import "embed"

// Files are the templates: client/ is what client-gen writes, with scheme/ and
// fake/; lister/, informer/ and applyconfig/ are what lister-gen, informer-gen and
// applyconfiguration-gen write.
//
//go:embed */*.tmpl
var Files embed.FS
