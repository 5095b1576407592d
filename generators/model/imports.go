package model

import (
	"go/token"
	"slices"
	"strconv"
)

// checkImports reports imports of packages that the module doesn't have, if the model depends on
// them: generated code would treat their types as unknown. Missing packages of other modules are
// left to the go command, which reports them when it compiles.
func (s *session) checkImports(packages []*candidate) {
	var missing []string
	at := map[string]token.Position{}
	for _, p := range packages {
		for _, f := range p.src.files {
			if f.syntax == nil {
				continue
			}
			for _, spec := range f.syntax.Imports {
				path, _ := strconv.Unquote(spec.Path.Value)
				src, asked := s.byPath[path]
				if asked && src == nil && !slices.Contains(missing, path) && noFolder(s.ctx, s.cfg.Dir, path) != "" {
					missing, at[path] = append(missing, path), s.fset.Position(spec.Pos())
				}
			}
		}
	}
	if len(missing) == 0 {
		return
	}
	// The path may be in another module, which isn't downloaded yet.
	looked := LookUp(s.ctx, s.cfg.Dir, missing)
	for _, path := range missing {
		if looked[path] == (Looked{}) {
			s.StrictErrorf(at[path], "%s", noFolder(s.ctx, s.cfg.Dir, path))
		}
	}
}
