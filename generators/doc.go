// Package generators turns annotated API types into clientsets, listers, informers and
// apply configurations, and adds deep copies, registration and functions that set defaults
// to their packages. The command kubewright, and those with the names of upstream's
// generators, are thin shells around it.
//
// [Plan] is the pipeline. Each stage returns a value for the next:
//
//	model.Load         packages and their tags -> groups, versions, kinds
//	Config.generators  options -> generators, each with a table of files
//	render.Render      templates and views -> formatted text in memory
//	output.Compare     text -> what has to change on the disk, or a diff
//
// CustomResourceDefinitions have no templates: definitions.go has their options, and package crd makes
// them.
//
// A generator is one file (client.go, lister.go, informer.go, applyconfig.go, deepcopy.go,
// register.go, defaulter.go). The first four have a table, which maps templates to files; the last
// three make one file in each package. The rest of the file builds the views that the templates
// print. All decisions are made there; templates only have if and range.
//
// flags.go declares the flags of all commands, tool.go and helpers.go the compatible commands, and
// layout.go what kubewright derives from a single output folder.
package generators
