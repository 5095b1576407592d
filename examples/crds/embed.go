// Package crds holds the CustomResourceDefinitions of the examples' APIs, for
// programs that install them.
package crds

import "embed"

// Files are the manifests, one resource each.
//
//go:embed *.yaml
var Files embed.FS
