package model

import "strings"

// kubernetesAPI is the module of the built-in types. client-go has apply configurations of them, in folders
// of the same names.
const kubernetesAPI, kubernetesApply = "k8s.io/api/", "k8s.io/client-go/applyconfigurations/"

// findInputs finds the apply configurations that exist already for the inputs of methods that apply, and
// reports inputs without any: the methods would be missing. Fields of such types stay as they are: the
// defaults are only for what a tag names.
func (a *applyReader) findInputs(packages []*candidate, model *Apply) {
	configured := map[TypeName]bool{}
	if model != nil {
		configured = model.Configured()
	}
	for _, p := range packages {
		for _, kind := range p.kinds {
			for _, m := range kind.Methods {
				name := TypeName{m.Input.Path, m.Input.Name}
				if m.Verb != "apply" || kind.NoVerbs || !p.pkg.Client || configured[name] {
					continue
				}
				m.InputConfig = a.inputConfig(packages, name)
				src := a.byPath[name.Path]
				// That a type doesn't exist was reported by resolveMethods.
				if m.InputConfig == "" && model != nil && src != nil && src.typ(name.Name) != nil {
					a.reportInput(kind, m)
				}
			}
		}
	}
}

// inputConfig returns the import path of an apply configuration that exists already, "" if there is none.
func (a *applyReader) inputConfig(packages []*candidate, name TypeName) string {
	if elsewhere := a.cfg.AppliedElsewhere[name]; elsewhere != "" {
		return elsewhere
	}
	below, ok := strings.CutPrefix(name.Path, kubernetesAPI)
	if !ok {
		return ""
	}
	for _, p := range packages {
		if p.src.path == name.Path {
			return "" // client-go itself is generated
		}
	}
	config, other := kubernetesApply+below, kubernetesApply+"meta/v1"
	a.need(config, other)
	src := a.byPath[config]
	// If client-go isn't downloaded yet, what it has isn't known.
	if src == nil && a.byPath[other] != nil || src != nil && src.typ(name.Name+"ApplyConfiguration") == nil {
		return ""
	}
	return config
}

// reportInput reports a method that can't be generated.
func (a *applyReader) reportInput(kind *Kind, m *Method) {
	pos := m.inputPos
	if !pos.IsValid() {
		pos = m.Pos
	}
	input := m.Input.Path + "." + m.Input.Name
	a.Errorf(pos,
		"method %s of %s would be missing: its input %s has no apply configuration; give its package with "+
			"--applyconfig-externals %s:PACKAGE if there is one, or remove the tag",
		m.Name, kind.Name, input, input)
}
