package generators

import (
	"fmt"
	"path/filepath"

	"github.com/kubewright/kubewright/generators/marker"
	"github.com/kubewright/kubewright/generators/output"
)

// otherTree is a folder that a run with other flags writes to.
type otherTree struct {
	// file is a pattern of what is in every such folder, and generated.
	dir, file string
	// what is in it, and what flag would have kept it current.
	what, instead string
}

// warnOfOthers tells of the folders that are there: what is in them gets out of
// date, and in the end it doesn't compile.
func (c Config) warnOfOthers(set output.Set) Problems {
	var problems Problems
	for _, other := range c.others {
		if set.Has(other.dir, other.file) {
			problems = append(problems, marker.Problem{Warning: true,
				Message: fmt.Sprintf("%s has %s, which this run doesn't keep current; %s, or remove it", other.dir, other.what, other.instead)})
		}
	}
	return problems
}

// others are what other flags of kubewright write, given where this run writes.
func (l Layout) others(clientsets, listers, informers, configs string) []otherTree {
	var others []otherTree
	if !l.withApply {
		instead := "give --with-applyconfig"
		if l.client.ApplyConfigurationPackage == "" && !l.client.Lean {
			instead += " (without it the clientset has no Apply methods, and its fake no NewClientset)"
		}
		others = append(others, otherTree{configs, "utils.go", "apply configurations", instead})
	}
	if l.informer.SingleDirectory {
		others = append(others, otherTree{filepath.Join(informers, "externalversions"), "factory.go", "informers", "leave out --single-directory"})
	} else {
		others = append(others, otherTree{informers, "factory.go", "informers", "give --single-directory"})
	}
	for _, name := range output.Folders(clientsets) {
		if name != l.clientsetName {
			others = append(others, otherTree{filepath.Join(clientsets, name), "clientset.go", "a clientset", "give --clientset-name " + name})
		}
	}
	// moved is the default of a folder that a flag has put elsewhere.
	moved := func(folder, to string) (string, bool) {
		dir := filepath.Join(l.dir, folder)
		rel, err := filepath.Rel(dir, to)
		return dir, err == nil && !filepath.IsLocal(rel)
	}
	if dir, ok := moved("clientset", clientsets); ok {
		others = append(others, otherTree{dir, "*/clientset.go", "a clientset", "leave out --clientsets-dir"})
	}
	if dir, ok := moved("listers", listers); ok {
		others = append(others, otherTree{dir, "*/*/expansion_generated.go", "listers", "leave out --listers-dir"})
	}
	if dir, ok := moved("informers", informers); ok {
		for _, tree := range []string{dir, filepath.Join(dir, "externalversions")} {
			others = append(others, otherTree{tree, "factory.go", "informers", "leave out --informers-dir"})
		}
	}
	return others
}
