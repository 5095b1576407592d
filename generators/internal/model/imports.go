package model

import "strconv"

// checkImports reports imports of packages that the module doesn't have, if the model depends on
// them: generated code would treat their types as unknown. Missing packages of other modules are
// left to the go command, which reports them when it compiles.
func (s *session) checkImports(packages []*candidate) {
	reported := map[string]bool{}
	for _, p := range packages {
		for _, f := range p.src.files {
			if f.syntax == nil {
				continue
			}
			for _, spec := range f.syntax.Imports {
				path, _ := strconv.Unquote(spec.Path.Value)
				src, asked := s.byPath[path]
				if !asked || src != nil || reported[path] {
					continue
				}
				if text := s.noOwnFolder(path); text != "" {
					reported[path] = true
					s.StrictErrorf(s.fset.Position(spec.Pos()), "%s", text)
				}
			}
		}
	}
}

// noOwnFolder returns a message for a package that can't be found if its module is this one, which has no
// folder for it, "" for a package of another module.
func (s *session) noOwnFolder(path string) string {
	if text, known := s.noFolders[path]; known {
		return text
	}
	text := noFolder(s.ctx, s.cfg.Dir, path)
	// The path may be in another module, which isn't downloaded yet.
	if text != "" && LookUp(s.ctx, s.cfg.Dir, []string{path})[path] != (Looked{}) {
		text = ""
	}
	s.noFolders[path] = text
	return text
}
