package generators

import (
	"fmt"
	"strings"

	"github.com/kubewright/kubewright/generators/internal/marker"
	"github.com/kubewright/kubewright/generators/internal/model"
)

// unimportable reports API packages that Go doesn't let the generated ones import: what is in a folder named
// internal is for the packages beside and below that folder.
func (c *Config) unimportable(api *model.API) Problems {
	var problems Problems
	for _, group := range api.Groups {
		if group.PackageName == "internal" && (c.Client != nil || c.Informer != nil || c.Apply != nil) {
			problems = append(problems, marker.Problem{Pos: group.Versions[0].Package.Pos, Message: fmt.Sprintf(
				"Go doesn't let other packages import a generated folder internal; rename the folder of group %q",
				group.Name)})
		}
		for _, v := range group.Versions {
			parent, internal := internalParent(v.Package.Path)
			if !internal {
				continue
			}
			for _, output := range c.outputPackages() {
				if output == "" || strings.HasPrefix(output+"/", parent) {
					continue
				}
				problems = append(problems, marker.Problem{Pos: v.Package.Pos, Message: fmt.Sprintf("package %s is"+
					" in a folder internal, so that Go doesn't let %s import it; rename that folder, or write to"+
					" a folder in %s", v.Package.Path, output, strings.TrimSuffix(parent, "/"))})
				break
			}
		}
	}
	return problems
}

// internalParent returns the prefix of the packages that may import a package, and whether it is internal.
func internalParent(importPath string) (prefix string, internal bool) {
	i := strings.LastIndex("/"+importPath+"/", "/internal/")
	if i < 0 {
		return "", false
	}
	return importPath[:i], true
}

// outputPackages are the import paths of the output folders.
func (c *Config) outputPackages() []string {
	var packages []string
	if c.Client != nil {
		packages = append(packages, c.Client.Package)
	}
	if c.Lister != nil {
		packages = append(packages, c.Lister.Package)
	}
	if c.Informer != nil {
		packages = append(packages, c.Informer.Package)
	}
	if c.Apply != nil {
		packages = append(packages, c.Apply.Package)
	}
	return packages
}
