// Package generators turns annotated API types into clientsets, listers,
// informers and apply configurations: the library behind the commands kubewright,
// client-gen, lister-gen, informer-gen and applyconfiguration-gen.
//
// [Plan] is the pipeline, each stage a value handed to the next:
//
//	model.Load      packages and their tags -> groups, versions, kinds
//	Config.files    one declarative table per generator -> which template makes which file of which view
//	render.Render   templates and views -> formatted text in memory
//	output.Compare  text -> what has to change on the disk, or a diff
//
// A generator is one file here (client.go, lister.go, informer.go, applyconfig.go): its table
// and its view structs. To add one, write its templates, its views and its
// table, and name it in Config. Views hold what a template prints, under the
// names that it prints it by; decisions are made when the view is made.
//
// How the flags of the commands make a [Config] is in flags.go and module.go.
package generators
