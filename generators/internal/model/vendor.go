package model

import (
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

const vendorAdvice = "; run go mod vendor"

// checkVendor reports imports of the packages that their module's vendor folder lacks:
// anything that depends on them would silently be left out of the model.
func (s *session) checkVendor(packages []*candidate) {
	module, err := FindModule(s.ctx, s.cfg.Dir)
	if err != nil || !s.cfg.Strict {
		return
	}
	vendor := filepath.Join(module.Dir, "vendor")
	text, err := os.ReadFile(filepath.Join(vendor, "modules.txt"))
	if err != nil {
		return
	}
	// A package of another module isn't missing from the folder, but from go.mod.
	vendored := func(path string) bool {
		for line := range strings.Lines(string(text)) {
			line, ok := strings.CutPrefix(line, "# ")
			if module, _, _ := strings.Cut(line, " "); ok && strings.HasPrefix(path+"/", module+"/") {
				return true
			}
		}
		return false
	}
	missing := map[string]token.Position{}
	var paths []string
	for _, p := range packages {
		if p.src.path != module.Path && !strings.HasPrefix(p.src.path, module.Path+"/") {
			continue
		}
		for _, f := range p.src.files {
			if f.syntax == nil {
				continue
			}
			for _, spec := range f.syntax.Imports {
				path, _ := strconv.Unquote(spec.Path.Value)
				if slices.Contains(paths, path) || !vendored(path) {
					continue
				}
				if _, err := os.Stat(filepath.Join(vendor, filepath.FromSlash(path))); err != nil {
					paths, missing[path] = append(paths, path), s.fset.Position(spec.Pos())
				}
			}
		}
	}
	if len(paths) == 0 {
		return
	}
	// With -mod=mod and in some workspaces the folder doesn't matter, so the go command
	// decides.
	found, _ := goList(s.ctx, s.cfg.Dir, s.buildTag, paths)
	for _, path := range paths {
		i := slices.IndexFunc(found, func(p listed) bool { return slices.Contains(p.Match, path) })
		if i < 0 || found[i].Dir == "" {
			s.Errorf(missing[path], "package %s is not in the vendor folder%s", path, vendorAdvice)
		}
	}
}

// listError is an error of the go command as a message. If the vendor folder is out of
// date, the go command gives two pieces of advice, of which one hides the problem.
func listError(err error) string {
	message := err.Error()
	if detail, ok := strings.CutPrefix(message, "inconsistent vendoring in "); ok {
		_, detail, _ = strings.Cut(detail, ": ")
		detail, _, _ = strings.Cut(detail, ": : ")
		return "the vendor folder doesn't agree with go.mod: " + detail + vendorAdvice
	}
	return message
}
